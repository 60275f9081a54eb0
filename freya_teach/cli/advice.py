"""What to do about a failure, in a sentence for whoever sits in front of it. (chapter 8.1)

The message of an error says what happened; the table says what helps. It is read from the top: the
first class that fits decides.
"""

from __future__ import annotations

from freya_teach.errors import (
    AllRoutesFailed,
    AuthError,
    BadResponse,
    ConfigError,
    ConnectionFailed,
    ContextOverflowError,
    FreyaError,
    LLMError,
    ModelNotFound,
    PromptError,
    QuotaExhausted,
    RateLimited,
    RequestRefused,
    ResponseCut,
    ServerFailed,
    SessionBusy,
    SessionDamaged,
    SessionInUse,
    SessionReadOnly,
    WriteFailed,
)

ADVICE: tuple[tuple[type[FreyaError], str], ...] = (
    (
        AuthError,
        (
            "Check the key: `freya-teach key show {provider}` says where it comes from. A key is "
            "bound to one provider and one account."
        ),
    ),
    (
        ModelNotFound,
        (
            "Name another model with /model, or check the address: a compatible server has its own "
            "names."
        ),
    ),
    (RateLimited, "Ask again in a moment{after}; a second route in FREYA_FALLBACKS would step in."),
    (
        QuotaExhausted,
        (
            "Waiting does not help: look at the account's limits and payments, or take another "
            "route with /model."
        ),
    ),
    (
        ContextOverflowError,
        (
            "Begin a new conversation with /new, switch toolboxes off, or take a model with a "
            "larger window with /model."
        ),
    ),
    (
        RequestRefused,
        (
            "The server did not take this request: /log shows it, FREYA_LOG_DIR keeps it. For a "
            "compatible server, its own documentation says what it lacks; the same question may "
            "pass with toolboxes switched off."
        ),
    ),
    (ServerFailed, "It is the server's trouble and mostly passes: ask again in a moment."),
    (
        AllRoutesFailed,
        "Nobody could be reached: the line for each route says why. /model takes another one.",
    ),
    (
        ConnectionFailed,
        (
            "See that the server is running, that the address is right (/model shows it), and that "
            "this machine is online. A proxy between may refuse, too."
        ),
    ),
    (ResponseCut, "The connection broke in the middle of the answer: ask again."),
    (
        BadResponse,
        (
            "Something other than a model's server answered: check the address, and whether a "
            "login page or a proxy stands before it."
        ),
    ),
    (LLMError, "Ask again; /log shows what was sent."),
    (PromptError, "Put the file right, or take FREYA_PROMPT_DIR away; then ask again."),
    (SessionInUse, "End the other program, or chat with --no-session, which keeps nothing."),
    (SessionBusy, "Wait for the end of the answer before."),
    (SessionDamaged, "`freya-teach sessions repair` keeps what comes before the damage."),
    (
        SessionReadOnly,
        "See that the disk has room and works; then /sessions ID opens the conversation again.",
    ),
    (WriteFailed, "Make room on the disk, then ask again."),
    (ConfigError, "Put the setting right; then begin anew."),
)


def advice(problem: FreyaError) -> str:
    """What helps, or nothing where the message says all."""
    text = next((text for kind, text in ADVICE if isinstance(problem, kind)), "")
    provider, after = getattr(problem, "provider", ""), getattr(problem, "retry_after", None)
    seconds = f" (the server says {after:g} seconds)" if after else ""
    return text.format(provider=provider or "openai", after=seconds)
