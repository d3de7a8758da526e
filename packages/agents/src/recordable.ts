/**
 * Makes the answer of a model fit to be recorded. A model writes JSON that parses and that no journal keeps: half of a character in an
 * escape, `1e400`, endless nesting. Refused as the output of its step, it ended the agent; now the schemas of the tools decide. Pure.
 */
import { Fatal, type Json } from 'cairn';
import type { ModelResponse } from './conversation.ts';

/** Below the 200 levels of an output, in which they are members. */
const MAX_DEPTH = 100;

/** @throws Fatal if it is no answer, as code without types can return one: another call would be paid and return the same */
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

/** A number out of range, and what is nested deeper, becomes text, which the schema of a tool refuses where it is not welcome. */
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

/** Providers estimate counts, and leave them out. */
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
