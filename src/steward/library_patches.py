"""Every change that Steward makes to the code of another library, with the reason. Imports nothing of Steward.

Each function changes a class attribute for the whole process and may be called more than once. Its test in
tests/test_library_patches.py fails when the library no longer reads the attribute: then find another way, or drop the
patch.
"""

from asyncio.sslproto import SSLProtocol
from typing import Final

TLS_READ_BUFFER: Final = 18 << 10


def shrink_tls_read_buffers() -> None:
    """Gives each TLS connection of asyncio a read buffer of 18 KiB instead of 256 KiB.

    asyncio allocates the buffer for the life of the connection, and a process with forty watches has forty. A TLS
    record holds at most 16 KiB and its framing: decrypting more than one record at once is not faster. asyncio has no
    option for it. Verified with Python 3.11, 3.12 and 3.13.
    """
    SSLProtocol.max_size = TLS_READ_BUFFER


def replace_asyncpg_protocol(protocol: type) -> None:
    """Makes asyncpg.connect create this subclass of its protocol for each connection.

    asyncpg trusts the lengths that a server sends and reads outside its memory when they are wrong, so messages must be
    checked before it reads them (steward.postgres.frames). It creates its protocol itself, from the
    class that it finds under this name, and has no option for another. Verified with asyncpg 0.30, 0.31 and 0.32.
    """
    # Imported here: only the tenant operator uses asyncpg.
    import asyncpg.protocol

    asyncpg.protocol.Protocol = protocol


def replace_asyncmy_protocol(protocol: type) -> None:
    """Makes asyncmy.connect create this subclass of its protocol for each connection.

    asyncmy never pauses a server that sends faster than the rows are taken, and keeps a packet of any size
    (steward.tenants.sources.mysql_result has the limits). It creates its protocol itself, from the class that it finds
    under this name, and has no option for another. Verified with asyncmy 0.2.17.
    """
    # Imported here: only the tenant operator uses asyncmy.
    import asyncmy.connection

    asyncmy.connection._MySQLProtocol = protocol  # type: ignore[attr-defined]
