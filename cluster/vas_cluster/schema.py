"""Makes the JSON Schema of `cluster.yaml` from the models."""

from __future__ import annotations

import json

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from vas_cluster.model import Cluster


class _AbsentNotNull(GenerateJsonSchema):
    """An optional key is left out, never null: `document.py` refuses a key without a value."""

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        if schema.get("default") is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)


def schema_text() -> str:
    """Returns the schema as it is stored in cluster/cluster.schema.json."""
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Cluster.model_json_schema(schema_generator=_AbsentNotNull),
    }
    return json.dumps(schema, indent=2) + "\n"
