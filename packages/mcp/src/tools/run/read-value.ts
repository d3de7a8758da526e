/** Reads a value of a run of any size, part by part. */
import type { CairnClient } from '@cairn/client';
import { z } from 'zod';
import { ToolProblem } from '../../answer.ts';
import { RUN_ID } from '../arguments.ts';
import { read } from '../tool.ts';

const MAX_PART_CHARS = 16_000;
/** No stored value is longer. */
const MAX_OFFSET = 64 * 1024 * 1024;

export const readValue = read({
  name: 'read_value',
  title: 'Read a value of a run',
  description: `Reads the input or the result of a run, or the output of a step by its checkpoint, as JSON text, up to ${MAX_PART_CHARS} characters from an offset. Role viewer.`,
  input: z.strictObject({
    runId: RUN_ID,
    of: z
      .union([z.enum(['input', 'result']), z.int().min(1)])
      .describe('input, result, or the number `checkpoint` of a step.'),
    offset: z.int().min(0).max(MAX_OFFSET).optional().describe('`next` of the part before. Default 0.'),
  }),
  async run(client, { runId, of, offset = 0 }) {
    const whole = JSON.stringify(await storedValue(client, runId, of));
    const end = endOfPart(whole, offset);
    const excerpt = whole.slice(offset, end);
    const next = end < whole.length ? end : undefined;
    const more = next === undefined ? '' : `; more with offset ${next}`;
    return {
      text: `Characters ${offset} to ${Math.max(offset, end)} of ${whole.length}${more}`,
      data: { chars: whole.length, next },
      excerpt,
    };
  },
});

async function storedValue(client: CairnClient, runId: string, of: 'input' | 'result' | number) {
  if (typeof of === 'number') return outputAt(client, runId, of);
  const run = await client.get('/v1/runs/{id}', { params: { id: runId } });
  const [value, place] = of === 'input' ? [run.input, run.inputRef] : [run.result, run.resultRef];
  if (place) return outputAt(client, runId, place.checkpoint);
  if (value !== undefined) return value;
  throw new ToolProblem({
    code: 'NOT_FOUND',
    detail: `Run ${runId}, which is ${run.status}, has no ${of}.`,
    field: 'of',
    help: 'get_run explains the run.',
  });
}

function outputAt(client: CairnClient, runId: string, seq: number) {
  return client.get('/v1/runs/{id}/checkpoints/{seq}/output', { params: { id: runId, seq: String(seq) } });
}

/** Does not split a surrogate pair. */
function endOfPart(text: string, offset: number): number {
  const end = Math.min(text.length, offset + MAX_PART_CHARS);
  return end < text.length && /[\uD800-\uDBFF]/.test(text[end - 1] ?? '') ? end - 1 : end;
}
