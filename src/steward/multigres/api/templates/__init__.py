"""CoreTemplate, CellTemplate and ShardTemplate. Imports the other types of the API."""
