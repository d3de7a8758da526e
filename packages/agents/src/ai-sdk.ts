/**
 * A model of the Vercel AI SDK: any `LanguageModelV2`, `V3` or `V4`, from its provider packages. The SDK itself is not loaded,
 * and its loop is not used: the loop is the flow.
 */
import type { Json } from 'cairn';
import { answerOfStream, type StreamPart } from './ai-sdk-stream.ts';
import type { AgentModel, ModelRequest, ModelResponse, ToolCall } from './conversation.ts';
import { objectInput, type PartFormat, providerMessages } from './provider-message.ts';

export type ContentPart = { readonly type: string };

export interface TextPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
  readonly providerMetadata?: Json;
}

export interface CallPart {
  readonly type: 'tool-call';
  readonly toolCallId: string;
  readonly toolName: string;
  /** JSON text. */
  readonly input: string;
  readonly providerExecuted?: boolean;
  readonly providerMetadata?: Json;
}

/** The members of a language model that are used. */
export interface AiSdkModel {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
  doGenerate(options: never): PromiseLike<AiSdkResponse>;
  /** Called if the text is streamed. Absent: the text arrives when it is complete. */
  doStream?(options: never): PromiseLike<{ readonly stream: ReadableStream<StreamPart> }>;
}

export interface AiSdkResponse {
  readonly content: readonly ContentPart[];
  /** Some providers leave it out, although the types of the SDK require it. */
  readonly finishReason?: string | { readonly unified: string } | undefined;
  /** Some providers leave it out too. */
  readonly usage?: { readonly inputTokens: Tokens; readonly outputTokens: Tokens } | undefined;
}

type Tokens = number | null | undefined | { readonly total: number | undefined };

export interface AiSdkOptions {
  /** Members of the call options of the SDK: `temperature`, `maxOutputTokens`, `providerOptions` … JSON. */
  readonly settings?: Readonly<Record<string, unknown>>;
}

const FORMAT: PartFormat = {
  modelRole: 'assistant',
  text: (text) => ({ type: 'text', text }),
  call: ({ id, name, input }) => ({
    type: 'tool-call',
    toolCallId: id,
    toolName: name,
    input: objectInput(input),
  }),
  own: (part) => {
    const { type, text, input, providerOptions } = part as Readonly<Record<string, Json | undefined>>;
    if (type === 'tool-call') return { ...(part as object), input: objectInput(input) };
    // A part without text may carry a signature.
    return text === '' && providerOptions === undefined ? undefined : part;
  },
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
    generate: async ({ system, messages, tools, signal, onText }: ModelRequest) => {
      const prompt = [
        ...(system === undefined ? [] : [{ role: 'system', content: system }]),
        ...providerMessages(messages, FORMAT),
      ];
      const functions = tools.map(({ name, description, input }) => ({
        type: 'function',
        name,
        description,
        inputSchema: input,
      }));
      const own = functions.length === 0 ? {} : { tools: functions, toolChoice: { type: 'auto' } };
      const call = { ...settings, prompt, ...own, abortSignal: signal } as never;
      if (!onText || !model.doStream) return answerFrom(await model.doGenerate(call));
      const { stream } = await model.doStream(call);
      return answerFrom(await answerOfStream(stream, onText));
    },
  };
}

function answerFrom({ content, finishReason, usage }: AiSdkResponse): ModelResponse {
  const parts = content.filter(isUsed);
  return {
    text: parts.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    calls: parts.flatMap((part) => (part.type === 'tool-call' ? [callFrom(part)] : [])),
    finish: (typeof finishReason === 'string' ? finishReason : finishReason?.unified) ?? 'unknown',
    usage: { input: tokens(usage?.inputTokens), output: tokens(usage?.outputTokens) },
    raw: parts.map(sentBack),
  };
}

/** Ignores calls that the provider carried out itself, and their results. */
function isUsed(part: ContentPart): part is TextPart | CallPart {
  if (part.type === 'tool-call') return (part as CallPart).providerExecuted !== true;
  return part.type === 'text' || part.type === 'reasoning';
}

function callFrom({ toolCallId, toolName, input }: CallPart): ToolCall {
  return { id: toolCallId, name: toolName, input: parsed(input) };
}

/** Input that is not JSON is passed on as text. The schema of the tool refuses it, so the model gets an error. */
function parsed(input: string): Json {
  try {
    return JSON.parse(input === '' ? '{}' : input) as Json;
  } catch {
    return input;
  }
}

/** Returns provider metadata as provider options, because it may carry signatures. */
function sentBack(part: TextPart | CallPart): Json {
  const { type, providerMetadata } = part;
  const options = providerMetadata === undefined ? {} : { providerOptions: providerMetadata };
  if (part.type !== 'tool-call') return { type, text: part.text, ...options };
  const { toolCallId, toolName, input } = part;
  return { type, toolCallId, toolName, input: parsed(input), ...options };
}

function tokens(count: Tokens): number {
  const total = typeof count === 'object' ? count?.total : count;
  return total ?? 0;
}
