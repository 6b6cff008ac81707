"""What Alembic runs: the migrations that a store has not seen, in the transaction of whoever asks."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
