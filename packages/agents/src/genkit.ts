/**
 * A model of Genkit: calls `ai.generate` for one turn and returns the tool calls instead of letting Genkit make them. Only the
 * given instance of Genkit is used.
 */
import type { Json } from 'cairn';
import type { AgentMessage, AgentModel, ModelRequest, ModelResponse, ToolCall } from './conversation.ts';
import { objectInput, type PartFormat, providerMessages } from './provider-message.ts';

interface GenkitPart {
  readonly text?: string;
  readonly toolRequest?: { readonly name: string; readonly ref?: string; readonly input?: unknown };
}

/** The members of a Genkit instance that are used. */
export interface GenkitLike {
  generate(options: never): PromiseLike<{
    readonly message?: { readonly content: readonly unknown[] };
    readonly finishReason?: string;
    readonly usage?: { readonly inputTokens?: number; readonly outputTokens?: number };
  }>;
  dynamicTool(config: never): unknown;
}

export interface GenkitOptions {
  /** Name of the model: 'googleai/gemini-2.5-flash'. */
  readonly model: string;
  readonly config?: Readonly<Record<string, unknown>>;
}

const FORMAT: PartFormat = {
  modelRole: 'model',
  text: (text) => ({ text }),
  call: ({ id, name, input }) => ({ toolRequest: { name, ref: id, input: objectInput(input) } }),
  own: (part) => {
    const { toolRequest } = part as { readonly toolRequest?: { readonly input?: Json } };
    if (toolRequest === undefined) return isEmptyText(part) ? undefined : part;
    if (toolRequest.input === undefined) return part;
    return { ...(part as object), toolRequest: { ...toolRequest, input: objectInput(toolRequest.input) } };
  },
  result: (result) => ({
    toolResponse: {
      name: result.name,
      ref: result.id,
      output: 'error' in result ? { error: result.error } : result.output,
    },
  }),
};

export function genkitModel(ai: GenkitLike, { model, config }: GenkitOptions): AgentModel {
  return {
    id: model,
    generate: async ({ system, messages, tools, signal, onText }: ModelRequest) => {
      const toolDefinitions = tools.map(({ name, description, input }) =>
        ai.dynamicTool({ name, description, inputJsonSchema: input } as never),
      );
      const { message, finishReason, usage } = await ai.generate({
        model,
        ...(config && { config }),
        ...(system === undefined ? {} : { system }),
        messages: providerMessages(messages, FORMAT),
        ...(toolDefinitions.length === 0 ? {} : { tools: toolDefinitions }),
        returnToolRequests: true,
        abortSignal: signal,
        ...(onText && { onChunk: ({ text }: { readonly text?: string }) => text && onText(text) }),
      } as never);
      const content = (message?.content ?? []) as readonly GenkitPart[];
      return {
        text: content.map((part) => part.text ?? '').join(''),
        calls: callsIn(content, messages),
        finish: finishReason ?? 'unknown',
        usage: { input: usage?.inputTokens ?? 0, output: usage?.outputTokens ?? 0 },
        // Parts may be instances with members that are undefined.
        raw: JSON.parse(JSON.stringify(content)) as Json,
      } satisfies ModelResponse;
    },
  };
}

/** Uses the index of a call if the model gives it no reference. */
function callsIn(content: readonly GenkitPart[], { length }: readonly AgentMessage[]): ToolCall[] {
  return content.flatMap(({ toolRequest }, i) => {
    if (!toolRequest) return [];
    const { name, ref = `call-${length}-${i}`, input } = toolRequest;
    return [{ id: ref, name, input: (input ?? {}) as Json }];
  });
}

/** True if the part also has no other member, such as metadata with a signature. */
function isEmptyText(part: Json): boolean {
  return Object.entries(part as object).every(([name, value]) => name === 'text' && value === '');
}
