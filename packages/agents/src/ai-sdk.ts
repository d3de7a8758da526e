/**
 * A model of the Vercel AI SDK: any `LanguageModelV2`, `V3` or `V4`, as its provider packages make them. Nothing of the SDK is loaded,
 * and its own loop is not used: the loop is the flow.
 */
import type { Json } from 'cairn';
import type { AgentModel, ModelAnswer, ModelRequest, ToolCall } from './messages.ts';
import { type PartFormat, providerMessage } from './provider-message.ts';

type Part = { readonly type: string };

/** The members of a language model that are used. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<AiSdkAnswer>;
}

interface AiSdkAnswer {
  readonly content: readonly Part[];
  readonly finishReason: string | { readonly unified: string };
  readonly usage: { readonly inputTokens: Tokens; readonly outputTokens: Tokens };
}

type Tokens = number | undefined | { readonly total: number | undefined };

export interface AiSdkOptions {
  /** Members of the call options of the SDK: `temperature`, `maxOutputTokens`, `providerOptions` … JSON. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

const FORMAT: PartFormat = {
  modelRole: 'assistant',
  text: (text) => ({ type: 'text', text }),
  call: ({ id, name, input }) => ({ type: 'tool-call', toolCallId: id, toolName: name, input }),
  result: (result) => ({
    type: 'tool-result',
    toolCallId: result.id,
    toolName: result.name,
    output:
      'error' in result
        ? { type: 'error-text', value: result.error }
        : { type: 'json', value: result.output },
  }),
};

export function aiSdkModel(model: AiSdkModel, { settings = {} }: AiSdkOptions = {}): AgentModel {
  return {
    id: `${model.provider}/${model.modelId}`,
    generate: async ({ system, messages, tools, signal }: ModelRequest) => {
      const prompt = [
        ...(system === undefined ? [] : [{ role: 'system', content: system }]),
        ...messages.map((message) => providerMessage(message, FORMAT)),
      ];
      const functions = tools.map(({ name, description, input }) => ({
        type: 'function',
        name,
        description,
        inputSchema: input,
      }));
      const own = functions.length === 0 ? {} : { tools: functions, toolChoice: { type: 'auto' } };
      return answerFrom(
        await model.doGenerate({ ...settings, prompt, ...own, abortSignal: signal } as never),
      );
    },
  };
}

function answerFrom({ content, finishReason, usage }: AiSdkAnswer): ModelAnswer {
  const texts = content.flatMap((part) =>
    part.type === 'text' ? [(part as unknown as { text: string }).text] : [],
  );
  return {
    text: texts.join(''),
    calls: content.flatMap((part) => callFrom(part) ?? []),
    finish: typeof finishReason === 'string' ? finishReason : finishReason.unified,
    usage: { input: tokens(usage.inputTokens), output: tokens(usage.outputTokens) },
    raw: content.filter(isSentBack).map(partFrom),
  };
}

interface SdkCall extends Part {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly input: string;
  readonly providerExecuted?: boolean;
}

/** Calls that the provider carried out itself are none of ours. */
function callFrom(part: Part): ToolCall | undefined {
  if (part.type !== 'tool-call') return undefined;
  const { toolCallId, toolName, input, providerExecuted } = part as SdkCall;
  return providerExecuted ? undefined : { id: toolCallId, name: toolName, input: parsed(input) };
}

/** Input that is no JSON goes on as text, which no schema of a tool accepts: the model is told. */
function parsed(input: string): Json {
  try {
    return JSON.parse(input === '' ? '{}' : input) as Json;
  } catch {
    return input;
  }
}

function isSentBack(part: Part): boolean {
  if (part.type === 'tool-call') return (part as SdkCall).providerExecuted !== true;
  return part.type === 'text' || part.type === 'reasoning';
}

/** What came as metadata of the provider goes back as its options: there are signatures among it. */
function partFrom(part: Part): Json {
  const { providerMetadata, ...rest } = part as Part & { readonly providerMetadata?: Json };
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  if (part.type !== 'tool-call') {
    return { type: part.type, text: (part as unknown as { text: string }).text, ...options };
  }
  const { toolCallId, toolName, input } = rest as SdkCall;
  return { type: part.type, toolCallId, toolName, input: parsed(input), ...options };
}

function tokens(count: Tokens): number {
  const total = typeof count === 'object' ? count.total : count;
  return total ?? 0;
}
