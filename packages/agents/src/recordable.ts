/**
 * Changes the answer of a model so that the journal can store it. Models write valid JSON that the journal refuses: a lone
 * surrogate, `1e400`, very deep nesting. The schemas of the tools then accept or refuse the result. Pure.
 */
import { Fatal, type Json } from 'cairn';
import type { ModelResponse } from './conversation.ts';

/** Less than the 200 levels of an output, which contains these values. */
const MAX_DEPTH = 100;

/**
 * @throws Fatal for a value that is not an answer, which untyped code may return; a retry would cost money and return the same
 */
export function recordable(answer: ModelResponse): ModelResponse {
  assertAnswer(answer);
  const { text, calls, finish, usage, raw } = answer;
  return {
    ...answer,
    text: text.toWellFormed(),
    calls: calls.map(({ id, name, input }) => ({
      id: id.toWellFormed(),
      name: name.toWellFormed(),
      input: limited(input, MAX_DEPTH),
    })),
    finish: finish.toWellFormed(),
    ...(usage && { usage: { input: tokens(usage.input), output: tokens(usage.output) } }),
    ...(raw !== undefined && { raw: limited(raw, MAX_DEPTH) }),
  };
}

/** Turns numbers out of range and deeper values into text, which the schema of a tool can refuse. */
function limited(value: Json, levels: number): Json {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return '…';
  if (Array.isArray(value)) return value.map((member: Json) => limited(member, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name.toWellFormed(), limited(member as Json, levels - 1)]),
  );
}

/** Providers may estimate counts, or leave them out. */
function tokens(count: number): number {
  return Number.isFinite(count) && count > 0 ? Math.min(Math.ceil(count), Number.MAX_SAFE_INTEGER) : 0;
}

function assertAnswer(answer: Partial<ModelResponse> | null | undefined): void {
  const { text, calls, finish } = answer ?? {};
  const missing = [
    typeof text !== 'string' && `'text'`,
    typeof finish !== 'string' && `'finish'`,
    Array.isArray(calls) ? calls.map(missingOfCall).find(Boolean) : `'calls'`,
  ].filter(Boolean);
  if (missing.length === 0) return;
  throw new Fatal(`the answer of the model lacks ${missing.join(', ')}: see ModelResponse of @cairn/agents`);
}

function missingOfCall(call: Partial<ModelResponse['calls'][number]> | null, i: number): string | undefined {
  const { id, name } = call ?? {};
  if (typeof id !== 'string') return `'calls[${i}].id'`;
  return typeof name === 'string' ? undefined : `'calls[${i}].name'`;
}
