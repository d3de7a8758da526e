/** Assembles the answer of an AI SDK model from its stream, in the form that `doGenerate` returns. */
import type { Json } from 'cairn';
import type { AiSdkResponse, ContentPart, TextPart } from './ai-sdk.ts';

/** A part of a stream. The interfaces below describe the types that are used. */
export type StreamPart = { readonly type: string };

interface BlockPart extends StreamPart {
  /** Id of the block of text or reasoning. */
  readonly id: string;
  readonly delta?: string;
  readonly providerMetadata?: Json;
}

interface FinishPart extends StreamPart, Pick<AiSdkResponse, 'finishReason' | 'usage'> {}

interface Block {
  readonly type: TextPart['type'];
  text: string;
  /** The newest metadata of the block's parts. */
  metadata: Json | undefined;
}

const BLOCK = /^(text|reasoning)-(start|delta|end)$/;

/** @throws the error that the stream reports, or an error if the stream ends before the answer does */
export async function answerOfStream(
  stream: ReadableStream<StreamPart>,
  onText: (piece: string) => void,
): Promise<AiSdkResponse> {
  const parts: (Block | ContentPart)[] = [];
  const blocks = new Map<string, Block>();
  let finish: FinishPart | undefined;
  for await (const part of partsOf(stream)) {
    const [, type] = BLOCK.exec(part.type) ?? [];
    if (type === 'text' || type === 'reasoning') {
      const { id, delta = '', providerMetadata } = part as BlockPart;
      const name = `${type} ${id}`;
      const isNew = part.type.endsWith('-start') || !blocks.has(name);
      const block: Block = isNew ? { type, text: '', metadata: undefined } : (blocks.get(name) as Block);
      if (isNew) parts.push(block);
      blocks.set(name, block);
      block.text += delta;
      block.metadata = providerMetadata ?? block.metadata;
      if (type === 'text' && delta !== '') onText(delta);
    } else if (part.type === 'tool-call') parts.push(part);
    else if (part.type === 'finish') finish = part as FinishPart;
    else if (part.type === 'error') throw (part as StreamPart & { readonly error: unknown }).error;
  }
  if (!finish) throw new Error('the stream of the model ended before its answer did');
  const { finishReason, usage } = finish;
  return { content: parts.map(wholeOf).filter(hasContent), finishReason, usage };
}

async function* partsOf(stream: ReadableStream<StreamPart>): AsyncGenerator<StreamPart> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    // After an error, the rest is not needed.
    await reader.cancel().catch(() => {});
  }
}

function wholeOf(part: Block | ContentPart): ContentPart {
  if (!('metadata' in part)) return part;
  const { type, text, metadata } = part;
  return { type, text, ...(metadata === undefined ? {} : { providerMetadata: metadata }) } as TextPart;
}

/** A block without text may carry a signature. */
function hasContent(part: ContentPart): boolean {
  return !('text' in part) || part.text !== '' || 'providerMetadata' in part;
}
