"""The store on SQLAlchemy: one file per table family, the index, the migrations. Must not decide anything."""
