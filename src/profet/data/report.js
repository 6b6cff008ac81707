
"use strict";
(() => {
  const facts = document.getElementById("facts").textContent;
  const told = document.getElementById("told");
  document.getElementById("take").hidden = false;
  document.getElementById("save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([facts], { type: "application/json" }));
    link.download = "facts.json";
    link.click();
    URL.revokeObjectURL(link.href);
    told.textContent = "saved as facts.json";
  });
  document.getElementById("copy").addEventListener("click", () => {
    const area = document.createElement("textarea");
    area.value = facts;
    document.body.append(area);
    area.select();
    told.textContent = document.execCommand("copy") ? "copied" : "this browser does not let a page copy";
    area.remove();
  });
})();
