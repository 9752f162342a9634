"""Wire values of every kind for the codecs' tests: items of OpenAI Responses, parts of Gemini contents."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from foldline.core.message import Message, Part, Text, ToolResult
from foldline.wire import gemini, openai_responses
from tests.wire.histories import PNG

URL = f"data:image/png;base64,{PNG}"

ITEMS: dict[str, dict[str, Any]] = {
    "easy": {"role": "user", "content": "hi"},
    "developer": {
        "type": "message",
        "role": "developer",
        "content": [{"type": "input_text", "text": "be kind"}],
    },
    "parts": {
        "type": "message",
        "role": "user",
        "content": [
            {"type": "input_text", "text": "see", "prompt_cache_breakpoint": {"mode": "explicit"}},
            {"type": "input_image", "image_url": URL, "detail": "high"},
            {"type": "input_image", "file_id": "file_1", "detail": "auto"},
            {"type": "input_file", "filename": "a.txt", "file_data": "data:text/plain;base64,aGVsbG8="},
            {"type": "input_file", "file_url": "https://example.com/a.pdf"},
            {"type": "input_audio", "input_audio": {"data": "UklGRg==", "format": "wav"}},
            {"type": "input_image", "image_url": None, "detail": "auto"},
            {"type": "input_hologram", "beam": 1},
        ],
    },
    "output": {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "phase": "final_answer",
        "content": [
            {"type": "output_text", "text": "yes", "annotations": [{"type": "file_path"}], "logprobs": []},
            {"type": "refusal", "refusal": "no"},
        ],
    },
    "reasoning": {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "short"}],
        "content": [{"type": "reasoning_text", "text": "long"}],
        "encrypted_content": "QUJD",
    },
    "function_call": {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c1",
        "name": "shell",
        "arguments": '{"cmd":"ls"}',
        "status": "completed",
    },
    "function_call_output": {"type": "function_call_output", "id": "o1", "call_id": "c1", "output": "a.py"},
    "function_call_output parts": {
        "type": "function_call_output",
        "call_id": "c1",
        "output": [{"type": "input_text", "text": "shot"}, {"type": "input_image", "image_url": URL}],
    },
    "function_call_output object": {
        "type": "function_call_output",
        "call_id": "c1",
        "output": {"type": "input_text", "text": "a.txt", "detail": None},
    },
    "custom_tool_call": {"type": "custom_tool_call", "call_id": "c2", "name": "patch", "input": "*** Begin"},
    "custom_tool_call_output": {"type": "custom_tool_call_output", "call_id": "c2", "output": "ok"},
    "computer_call": {
        "type": "computer_call",
        "id": "cc_1",
        "call_id": "c3",
        "action": {"type": "click", "x": 1, "y": 2, "button": "left"},
        "pending_safety_checks": [],
        "status": "completed",
    },
    "computer_call_output": {
        "type": "computer_call_output",
        "call_id": "c3",
        "output": {"type": "computer_screenshot", "image_url": URL},
    },
    "local_shell_call": {
        "type": "local_shell_call",
        "id": "ls_1",
        "call_id": "c4",
        "status": "completed",
        "action": {"type": "exec", "command": ["ls"], "env": {}},
    },
    "local_shell_call_output": {"type": "local_shell_call_output", "id": "c4", "output": "a.py"},
    "shell_call": {"type": "shell_call", "call_id": "c5", "action": {"commands": ["ls"]}},
    "shell_call_output": {
        "type": "shell_call_output",
        "call_id": "c5",
        "output": [
            {"stdout": "a.py", "stderr": "", "outcome": {"type": "exit", "exit_code": 0}},
            {"stdout": "", "stderr": "boom", "outcome": {"type": "exit", "exit_code": 1}},
        ],
    },
    "apply_patch_call": {
        "type": "apply_patch_call",
        "call_id": "c6",
        "status": "completed",
        "operation": {"type": "delete_file", "path": "a.py"},
    },
    "apply_patch_call_output": {
        "type": "apply_patch_call_output",
        "call_id": "c6",
        "status": "failed",
        "output": "no such file",
    },
    "tool_search_call": {
        "type": "tool_search_call",
        "call_id": "c7",
        "execution": "client",
        "arguments": {"query": "x"},
    },
    "tool_search_output": {"type": "tool_search_output", "call_id": "c7", "tools": [{"name": "t"}]},
    "mcp_call": {
        "type": "mcp_call",
        "id": "mcp_1",
        "server_label": "s",
        "name": "find",
        "arguments": '{"q":1}',
        "output": "found it",
    },
    "mcp_call failed": {
        "type": "mcp_call",
        "id": "mcp_2",
        "server_label": "s",
        "name": "find",
        "arguments": "{}",
        "error": {"type": "mcp_error", "message": "down"},
    },
    "web_search_call": {
        "type": "web_search_call",
        "id": "ws_1",
        "status": "completed",
        "action": {"type": "search", "query": "x"},
    },
    "file_search_call": {
        "type": "file_search_call",
        "id": "fs_1",
        "status": "completed",
        "queries": ["x"],
        "results": [
            {"file_id": "f", "score": 0.5, "text": "chunk one"},
            {"file_id": "g", "text": "chunk two"},
        ],
    },
    "code_interpreter_call": {
        "type": "code_interpreter_call",
        "id": "ci_1",
        "container_id": "k",
        "status": "completed",
        "code": "print(1)",
        "outputs": [{"type": "logs", "logs": "1"}, {"type": "image", "url": "https://example.com/p.png"}],
    },
    "image_generation_call": {
        "type": "image_generation_call",
        "id": "ig_1",
        "status": "completed",
        "result": PNG,
    },
    "program": {"type": "program", "id": "p1", "call_id": "c8", "code": "run()", "fingerprint": "f"},
    "program_output": {
        "type": "program_output",
        "id": "p2",
        "call_id": "c8",
        "result": "done",
        "status": "completed",
    },
    "compaction": {"type": "compaction", "id": "cmp_1", "encrypted_content": "eHg="},
    "compaction_trigger": {"type": "compaction_trigger"},
    "item_reference": {"id": "msg_9"},
    "configuration_update": {"type": "configuration_update", "reasoning": {"effort": "low"}},
    "mcp_approval_response": {"type": "mcp_approval_response", "approval_request_id": "a", "approve": True},
    "output without call": {"type": "function_call_output", "name": "t", "output": "late"},
    "unknown": {"type": "hologram_call", "id": "h", "beam": [1, 2]},
}


SIGNATURE = "Cs4BAVSoXO_c-=="

PARTS: dict[str, dict[str, Any]] = {
    "text": {"text": "hi"},
    "signed text": {"text": "so", "thoughtSignature": SIGNATURE},
    "thought": {"text": "hm", "thought": True},
    "signed thought": {"text": "hm", "thought": True, "thought_signature": SIGNATURE},
    "signature alone": {"text": "", "thoughtSignature": SIGNATURE},
    "call": {"functionCall": {"name": "read", "args": {"p": "a.md"}}},
    "signed call": {
        "functionCall": {"id": "f1", "name": "read", "args": {"p": "a"}},
        "thoughtSignature": SIGNATURE,
    },
    "snake call": {"function_call": {"name": "read", "args": {}}},
    "call without args": {"functionCall": {"name": "now"}},
    "response": {"functionResponse": {"name": "read", "response": {"output": "A"}}},
    "response with id": {"functionResponse": {"id": "f1", "name": "read", "response": {"result": "A"}}},
    "snake response": {"function_response": {"name": "read", "response": {"error": "no"}}},
    "response of many keys": {
        "functionResponse": {"name": "read", "response": {"output": "A", "exit_code": 0}}
    },
    "response with media": {
        "functionResponse": {
            "name": "shot",
            "response": {"output": "see"},
            "parts": [{"inlineData": {"mimeType": "image/png", "data": PNG}}],
            "scheduling": "SILENT",
        }
    },
    "empty response": {"functionResponse": {"name": "read", "response": {}}},
    "image": {"inlineData": {"mimeType": "image/png", "data": PNG}, "mediaResolution": {"level": "LOW"}},
    "snake pdf": {"inline_data": {"mime_type": "application/pdf", "data": "JVBERi0xLjQK"}},
    "text document": {"inlineData": {"mimeType": "text/plain", "data": "aGVsbG8="}},
    "own file": {"fileData": {"mimeType": "video/mp4", "fileUri": "gs://b/v.mp4"}},
    "web file": {"fileData": {"fileUri": "https://example.com/a.pdf", "mimeType": "application/pdf"}},
    "code": {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
    "code result": {"codeExecutionResult": {"outcome": "OUTCOME_FAILED", "output": "boom"}},
    "server call": {"toolCall": {"id": "t1", "toolType": "GOOGLE_SEARCH", "args": {"q": "x"}}},
    "server response": {
        "toolResponse": {"id": "t1", "toolType": "GOOGLE_SEARCH", "response": {"hits": ["a"]}}
    },
    "unknown": {"hologram": {"beam": 1}},
    "call without name": {"functionCall": {"args": {}}},
}


def item(name: str) -> Message:
    """An item as it is read."""
    return openai_responses.CODEC.decode(ITEMS[name])


def edited(message: Message, *parts: Part) -> Message:
    """The message with other parts."""
    return replace(message, parts=parts, edited=True)


def new_text(text: str, part: Any) -> Any:
    """The part with another text, as a pass makes it."""
    return replace(part, text=text, edited=True)


def cleared(result: ToolResult, *texts: str) -> ToolResult:
    """The result with other texts, as microcompact makes it."""
    return replace(result, content=tuple(Text(text=text) for text in texts), edited=True)


def only(message: Message) -> Any:
    """The one part of a message."""
    assert len(message.parts) == 1
    return message.parts[0]


def model(*names: str) -> dict[str, Any]:
    """A content of the model with these parts."""
    return {"role": "model", "parts": [PARTS[name] for name in names]}


def one(name: str) -> Any:
    """The one part that a wire part is read as."""
    message = gemini.CODEC.decode(model(name))
    assert len(message.parts) == 1
    return message.parts[0]
