"""Records as poolers write them."""

from steward.multigres.topology.protobuf import EncodedField, encode, message_field, number_field, text_field


def encode_pooler(name: str, *, role: int = 2, host: str = "", rule: tuple[int, int] = (0, 0)) -> bytes:
    identity = message_field(1, [*number_field(1, 1), *text_field(2, "z1"), *text_field(3, name)])
    shard = message_field(2, [*text_field(1, "postgres"), *text_field(2, "default"), *text_field(3, "0-inf")])
    return encode(
        [
            identity,
            shard,
            *text_field(8, host or f"{name}.svc"),
            message_field(12, number_field(1, 2)),
            message_field(13, [*number_field(1, role), message_field(2, _rule(rule))]),
        ]
    )


def _rule(rule: tuple[int, int]) -> list[EncodedField]:
    return [*number_field(1, rule[0]), *number_field(2, rule[1])]
