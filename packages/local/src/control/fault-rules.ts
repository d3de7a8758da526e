/** Reads the fault rules of a control request. Loaded on use, because a start does not need it. */

import type { InjectedFault as FaultOfGoogle, FaultRule } from '@cairn/local-firestore/faults';
import { z } from 'zod';
import type { StandInFault as ParsedFault } from '../stand-in/faults.ts';
import { ControlError } from './control.ts';

/** Longer than any client's deadline. A longer delay would look like a hanging server. */
const MAX_LATENCY_MS = 60_000;
/** Rules are tried one after the other on every call. */
const MAX_RULES = 100;

const InjectedFault = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('latency'), ms: z.number().min(0).max(MAX_LATENCY_MS) }),
  z.strictObject({ kind: z.literal('aborted') }),
  z.strictObject({ kind: z.literal('unavailable') }),
  z.strictObject({ kind: z.literal('lost-answer') }),
  z.strictObject({ kind: z.literal('crash') }),
  z.strictObject({ kind: z.literal('cut-stream'), afterMessages: z.int().min(0) }),
]);

const Status = z.int().min(400).max(599);

/** Fault of an external service that functions call. */
const StandInFault = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('latency'), ms: z.number().min(0).max(MAX_LATENCY_MS) }),
  z.strictObject({ kind: z.literal('refuse'), status: Status, message: z.string().exactOptional() }),
  z.strictObject({
    kind: z.literal('rate-limit'),
    status: z.literal([403, 429]),
    retryAfterS: z.int().min(0).exactOptional(),
    message: z.string().exactOptional(),
  }),
  z.strictObject({ kind: z.literal('cut-before') }),
  z.strictObject({ kind: z.literal('lost-answer') }),
  z.strictObject({ kind: z.literal('fail-after'), status: Status }),
  z.strictObject({ kind: z.literal('hang-before') }),
  z.strictObject({ kind: z.literal('hang-after') }),
]);

function requestOf<Kind extends z.ZodType>(fault: Kind) {
  return z.strictObject({
    seed: z.int().min(0).max(0xffff_ffff),
    rules: z
      .array(
        z.strictObject({
          call: z.string().min(1).exactOptional(),
          path: z.string().min(1).exactOptional(),
          probability: z.number().min(0).max(1),
          after: z.int().min(0).exactOptional(),
          times: z.int().min(1).exactOptional(),
          fault,
        }),
      )
      .max(MAX_RULES),
  });
}

const FaultRequest = requestOf(InjectedFault);
const StandInFaultRequest = requestOf(StandInFault);

interface Faulty<Kind> {
  readonly seed: number;
  readonly rules: readonly FaultRule<Kind>[];
}

/** @throws ControlError 400 that names the field at fault. */
export function readFaults(body: unknown): Faulty<FaultOfGoogle> {
  return read(FaultRequest, body);
}

/** @throws ControlError likewise */
export function readStandInFaults(body: unknown): Faulty<ParsedFault> {
  return read(StandInFaultRequest, body);
}

function read<T>(schema: z.ZodType<T>, body: unknown): T {
  const read = schema.safeParse(body);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new ControlError(400, `${issue?.path.join('.') || 'the body'}: ${issue?.message ?? 'is not valid'}`);
}
