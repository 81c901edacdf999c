"""Addresses outside that must never be called, in every form that hides them."""

REFUSED_V4 = [
    *("0.0.0.0", "0.1.2.3", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1"),
    *("127.255.255.254", "169.254.0.1", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.1", "192.0.0.170"),
    *("192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7"),
    *("203.0.113.9", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"),
]
REFUSED_V6 = [
    *("::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:10.0.0.1", "::ffff:169.254.169.254"),
    *("0:0:0:0:0:ffff:192.168.0.1", "::ffff:0:127.0.0.1"),
    *("64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe", "64:ff9b::10.0.0.1", "64:ff9b:1::1", "100::1"),
    *("2001::1", "2001:0:7f00:1::1", "2001:10::1", "2001:1ff:ffff::1", "2001:db8::1", "2001:db8:ffff::1"),
    *("2002:7f00:1::", "2002:a9fe:a9fe::1", "2002:c0a8:1::1", "3fff::1", "3fff:fff:ffff::1"),
    *("4000::1", "5f00::1", "8000::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1", "ff0e::1"),
]
# What some read as 127.0.0.1 or another address of the inside, in forms that are not its own.
DISGUISED_HOSTS = [
    *("2130706433", "017700000001", "0x7f000001", "0177.0.0.1", "0x7f.1", "0x7f.0.0.1", "0x7f.0x0.0x0.0x1", "127.1"),
    *("127.0.1", "0", "0x", "127.0.0.1.", "127.0.0.256", "1.2.3.4.5", "example.127", "127。0。0。1", "①②⑦.0.0.1"),
    *(
        "\uff11\uff12\uff17.\uff10.\uff10.\uff11",
        "%31%32%37.0.0.1",
        "127.0.0.1%00.example.com",
        "[::1%25lo]",
        "[::1%lo]",
        "[fe80::1%eth0]",
    ),
    *("[::ffff:127.0.0.1%25lo]", "[v1.127]", "[127.0.0.1]", "[::1]x", "[::1", "::1"),
]
INTERNAL_HOSTS = [
    *("localhost", "LOCALHOST", "localhost.", "app.localhost", "metadata", "metadata.google.internal", "printer.local"),
    *("PRINTER.Local", "box.home.arpa", "example.com.", "ⓛocalhost"),
]
# The part that counts is not where it seems.
MISLEADING_URLS = [
    *("https://example.com@127.0.0.1:{port}/", "https://@127.0.0.1:{port}/", "https://a:b@127.0.0.1:{port}/"),
    *("https://127.0.0.1:{port}#@example.com/", "https://127.0.0.1:{port}\\@example.com/"),
    *("https://example.com\\@127.0.0.1:{port}/", "https:\\\\127.0.0.1:{port}/", "https://127.0.0.1:{port}\t/"),
    *("https://\u200b127.0.0.1:{port}/", "https:/127.0.0.1:{port}/", "https:127.0.0.1:{port}/", "//127.0.0.1:{port}/"),
    *("ftp://127.0.0.1:{port}/", "file:///etc/passwd", "gopher://127.0.0.1:{port}/", "http://127.0.0.1:{port}/"),
]
REFUSED_URLS = [
    *(f"https://{host}:{{port}}/hook" for host in [*REFUSED_V4, *DISGUISED_HOSTS, *INTERNAL_HOSTS]),
    *(f"https://[{address}]:{{port}}/hook" for address in REFUSED_V6),
    *MISLEADING_URLS,
]
