/** What is wrong with a run, and what a repair does about it, as `views/integrity.ts` shows them. */
import { z } from 'zod';
import { PROBLEM_CODES, type ProblemCode } from '../../../core/integrity/problems.ts';
import { Count, Seq, Time, Value } from './common.ts';

const Code = z
  .enum(PROBLEM_CODES as [ProblemCode, ...ProblemCode[]])
  .describe('Stable: branch on this. Codes are only ever added.');
const More = Count.optional().describe('How many more there are that are not shown.');

export const Inconsistency = z
  .object({
    code: Code,
    severity: z.enum(['error', 'warning']),
    healable: z.boolean().describe('Whether a repair can put it right.'),
    subject: z
      .string()
      .describe('The document, from that of the run: `run`, `events/0000000007`, `steps/verdict`.'),
    title: z.string(),
    help: z.string().describe('What a person does where a repair refuses.'),
    evidence: z.record(z.string(), Value).describe('Ids, numbers and names of members; never values.'),
  })
  .describe('One thing that is wrong with the documents of a run.');

export const Consistency = z.object({
  runId: z.string(),
  checkedAt: Time,
  verdict: z
    .enum(['consistent', 'healable', 'needs_person', 'broken'])
    .describe('broken: the journal itself is in question, and nothing can be repaired.'),
  head: Seq.optional().describe('Number of the newest event; absent if the journal is broken.'),
  problems: z.array(Inconsistency),
  more: More,
  unread: z
    .array(z.string())
    .describe('Checkpoints whose large value was not read back: there are too many.'),
});

const RepairChange = z.object({
  subject: z.string(),
  action: z.enum(['create', 'replace', 'delete', 'list', 'leave']),
  fixes: z.array(Code),
  differences: z
    .array(z.object({ member: z.string(), before: z.string().optional(), after: z.string().optional() }))
    .optional()
    .describe('As JSON text, cut where it is long.'),
  waitId: z.string().optional().describe('Of a place at a rendezvous: which wait.'),
});

export const Repair = z.object({
  runId: z.string(),
  outcome: z
    .enum(['sound', 'refused', 'planned', 'applied'])
    .describe('refused: something is wrong, and none of it can be repaired.'),
  changes: z.array(RepairChange),
  more: More,
  refused: z.array(Inconsistency).describe('What a person has to see to.'),
  events: z.array(Seq).describe('Events of the journal that tell of the repair.'),
});
