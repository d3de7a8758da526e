/** Converts the messages of a conversation to those of a provider. The rules are shared by the adapters, which differ in their parts. */
import type { Json } from 'cairn';
import type { AgentMessage, ToolCall, ToolResult } from './conversation.ts';

/** Parts of a provider's messages. */
export interface PartFormat {
  /** Role of the model: 'assistant', 'model'. */
  readonly modelRole: string;
  text(text: string): unknown;
  call(call: ToolCall): unknown;
  /** A part of an answer of this provider, as it was recorded; undefined: it is empty, which providers refuse. */
  own(part: Json): unknown;
  result(result: ToolResult): unknown;
}

/** Without answers that have neither text nor calls: providers refuse a message without content. */
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

/** Providers refuse a conversation with a call whose input is no object. Its result says what the model wrote instead. */
export function objectInput(input: Json | undefined): Json {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : {};
}
