"""What is taken for a secret where no prefix says so: values in no order, and not code, names or placeholders."""

from __future__ import annotations

import pytest

from foldline.log.secret_shapes import bits_per_byte
from foldline.log.secrets import find


@pytest.mark.parametrize(
    "text",
    [
        'password = "hunter22"',
        "export DB_PASSWORD=x7Yz9Qw2",
        '{"password": "Tr0ub4dor&3"}',
        "{'pwd': 'correct7!'}",
        "PGPASSWORD=k3J9x2mQ psql",
        "api_key: 550e8400-e29b-41d4-a716-446655440000",
        "curl --token 9f86d081884c7d659a2f",
        "SECRET_KEY = 'django-insecure-8x!k2m#q9z'",
        "Authorization: token 8f14e45fceea167a5a36dedd4bea2543",
        "redis://:x7Yz9Qw2@cache:6379/0",
        "amqp://svc:pa55-example@mq/",
    ],
)
def test_a_value_in_no_order_behind_such_a_word_is_a_secret(text: str) -> None:
    """S14: what a person or a generator chose."""
    assert len(find(text.encode())) == 1


@pytest.mark.parametrize(
    "text",
    [
        "password = getpass()",
        "token = os.environ['API_TOKEN']",
        "self.secret_key = settings.SECRET_KEY_FALLBACK_1",
        "password: string, token: Optional[str]",
        "def f(api_keys: AsyncAPIKeys) -> None",
        "private_key: ed25519_private_key_type",
        '"access_token": "your-access-token-here-123"',
        '"password": "changeme123"',
        'API_KEY="xxxxxxxxxxxx1234"',
        '"secret": "${VAULT_SECRET_1}"',
        '"token_count": 123456789, "max_tokens": 200000',
        '"tokenizer": "o200k_base", "secretName": "db-pass-01x9z"',
        '"password_hash": "5f4dcc3b5aa765d61d8327deb882cf99"',
        "nextPageToken: CAUQAA8x7f0abc9z",
        "_`RFC6749#Token`: https://tools.ietf.org/html/rfc6749",
        "the password rotated 2024-11-30 at noon",
        "git clone https://user:password@host/x and https://app:***@host",
        "a basic authentication1 scheme, a bearer authentication-scheme-1",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "sk-your-example-key-goes-here-000",
    ],
)
def test_code_names_and_placeholders_are_no_secrets(text: str) -> None:
    """A redaction in code is a loss; at most one false hit a megabyte (S14)."""
    assert find(text.encode()) == ()


def test_entropy_is_that_of_the_bytes() -> None:
    """Bits a byte: none for one character over and over, three for eight different ones."""
    assert bits_per_byte(b"aaaaaaaa") == 0
    assert bits_per_byte(b"abcdefgh") == 3
