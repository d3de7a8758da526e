/** Schemas of checks and repairs, as `views/integrity.ts` returns them. */
import { z } from 'zod';
import { PROBLEM_CODES, type ProblemCode } from '../../../core/integrity/problems.ts';
import { CONSISTENCY_STATUSES } from '../../../operations/integrity/check.ts';
import { Count, Seq, Time, Value } from './common.ts';

const Code = z
  .enum(PROBLEM_CODES as [ProblemCode, ...ProblemCode[]])
  .describe('Stable code. Codes are added, never removed or changed.');
const More = Count.optional().describe('Number of further occurrences not shown.');

export const Inconsistency = z
  .object({
    code: Code,
    severity: z.enum(['error', 'warning']),
    healable: z.boolean().describe('`true` if a repair can fix it.'),
    subject: z
      .string()
      .describe('Path of the document relative to the run: `run`, `events/0000000007`, `steps/verdict`.'),
    title: z.string(),
    help: z.string().describe('What an operator does if the repair cannot fix it.'),
    evidence: z.record(z.string(), Value).describe('Ids, numbers and member names. Never values.'),
  })
  .describe('A problem of the documents of a run.');

export const Consistency = z.object({
  runId: z.string(),
  checkedAt: Time,
  verdict: z
    .enum(CONSISTENCY_STATUSES)
    .describe('`broken`: the journal itself is damaged, and nothing can be repaired.'),
  head: Seq.optional().describe(
    'Sequence number of the newest event. Absent if the journal is broken, and for effects without a run.',
  ),
  problems: z.array(Inconsistency),
  more: More,
  unread: z
    .array(z.string())
    .describe('Number of checkpoints whose large value was not verified because there are too many.'),
});

const RepairChange = z.object({
  subject: z.string(),
  action: z.enum(['create', 'replace', 'delete', 'list', 'leave']),
  fixes: z.array(Code),
  differences: z
    .array(z.object({ member: z.string(), before: z.string().optional(), after: z.string().optional() }))
    .optional()
    .describe('JSON text, truncated if it is long.'),
  waitId: z.string().optional().describe('For an event mailbox entry: its wait.'),
});

export const Repair = z.object({
  runId: z.string(),
  outcome: z
    .enum(['sound', 'refused', 'planned', 'applied'])
    .describe('`refused`: there are problems, and none can be repaired.'),
  changes: z.array(RepairChange),
  more: More,
  refused: z.array(Inconsistency).describe('Problems that need an operator.'),
  events: z.array(Seq).describe('Journal events that record the repair.'),
});
