import asyncio
import socket
import ssl


async def test_a_client_that_never_says_good_bye_does_not_keep_the_server_from_stopping(serve, trust):
    server = await serve()

    def connect():
        # A blocking client: nobody reads, so nobody answers the server's good-bye.
        return trust.wrap_socket(
            socket.create_connection(("127.0.0.1", server.port)), server_hostname="localhost"
        )

    client = await asyncio.to_thread(connect)
    await server.stop()
    with client:
        # Were the connection still open, this would end with a TimeoutError.
        client.settimeout(60)
        try:
            left = await asyncio.to_thread(client.recv, 1)
        except (ConnectionError, ssl.SSLError):
            left = b""
    assert left == b""
