"""Prints status and digest of each path below an address, with gzip and with a long header."""

import gzip
import hashlib
import sys
import urllib.error
import urllib.request


def fetch(address: str, headers: dict[str, str]) -> str:
    try:
        request = urllib.request.Request(address, headers=headers)
        with urllib.request.urlopen(request, timeout=10) as answer:
            body, status = answer.read(), answer.status
            if answer.headers.get("Content-Encoding") == "gzip":
                body = gzip.decompress(body)
    except urllib.error.HTTPError as error:
        body, status = error.read(), error.code
    return f"{status} {hashlib.sha256(body).hexdigest()[:16]}"


for path in sys.argv[2:]:
    plain = fetch(sys.argv[1] + path, {})
    zipped = fetch(sys.argv[1] + path, {"Accept-Encoding": "gzip", "Cookie": "c=" + "x" * 20000})
    print(path, plain, zipped)
