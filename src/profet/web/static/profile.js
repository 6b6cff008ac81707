// Files that are dropped, and choices that follow from what is filled in.

function choose(id) {
  const choice = document.getElementById(id);
  if (choice) choice.checked = true;
}

document.addEventListener("dragover", (event) => {
  const place = event.target.closest?.("[data-drop]");
  if (!place) return;
  event.preventDefault();
  place.classList.add("over");
});

document.addEventListener("dragleave", (event) => {
  event.target.closest?.("[data-drop]")?.classList.remove("over");
});

document.addEventListener("drop", (event) => {
  const place = event.target.closest?.("[data-drop]");
  if (!place) return;
  event.preventDefault();
  place.classList.remove("over");
  const field = place.querySelector("input[type=file]");
  if (event.dataTransfer.files.length) {
    field.files = event.dataTransfer.files;
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
});

for (const kind of ["change", "input"]) {
  document.addEventListener(kind, (event) => {
    const field = event.target;
    if (field.dataset?.selects && field.value) choose(field.dataset.selects);
    if (field.type === "radio") forget(field);
  });
}

// What was filled in for another choice is not sent along.
function forget(choice) {
  for (const field of choice.closest("fieldset").querySelectorAll("[data-selects]")) {
    if (field.dataset.selects !== choice.id) field.value = "";
  }
}
