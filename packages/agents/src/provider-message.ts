/** Converts a conversation to the messages of a provider. All adapters use these rules; only the format of parts differs. */
import type { Json } from 'cairn';
import type { AgentMessage, ToolCall, ToolResult } from './conversation.ts';

/** Parts of a provider's messages. */
export interface PartFormat {
  /** Role of the model: 'assistant', 'model'. */
  readonly modelRole: string;
  text(text: string): unknown;
  call(call: ToolCall): unknown;
  /** A recorded part of this provider's answer; undefined if it is empty, because providers refuse empty parts. */
  own(part: Json): unknown;
  result(result: ToolResult): unknown;
}

/** Leaves out answers without text and calls, because providers refuse a message without content. */
export function providerMessages(messages: readonly AgentMessage[], format: PartFormat): unknown[] {
  return messages.flatMap((message) => {
    const { content, ...role } = providerMessage(message, format);
    return Array.isArray(content) && content.length === 0 ? [] : [{ ...role, content }];
  });
}

function providerMessage(message: AgentMessage, format: PartFormat): { role: string; content: unknown } {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: [format.text(message.text)] };
    case 'assistant': {
      const { text, calls, raw } = message;
      if (Array.isArray(raw)) {
        const parts = raw.map((part) => format.own(part)).filter((part) => part !== undefined);
        return { role: format.modelRole, content: parts };
      }
      // An answer of another model has no parts of this provider.
      const parts = [...(text === '' ? [] : [format.text(text)]), ...calls.map((call) => format.call(call))];
      return { role: format.modelRole, content: raw ?? parts };
    }
    case 'tool':
      return { role: 'tool', content: message.results.map((result) => format.result(result)) };
  }
}

/** Replaces input that is not an object, because providers refuse it. The result of the call quotes what the model wrote. */
export function objectInput(input: Json | undefined): Json {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
}
