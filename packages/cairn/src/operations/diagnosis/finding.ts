/** One finding of a diagnosis, and its text. */
import type { Json } from '../../core/encoding/json.ts';

export interface DiagnosisFinding {
  /** Stable, for programs. `docs/operations.md` has a row for each code of state `wrong`. */
  readonly code: string;
  /** `note`: worth knowing, and possibly intended. */
  readonly state: 'well' | 'note' | 'wrong';
  readonly what: string;
  /** Steps to fix the problem. */
  readonly help?: string | undefined;
  /** Figures and names; never the value of a secret, a tenant or a run, because admins of any tenant see it. */
  readonly evidence?: FindingEvidence | undefined;
}

type FindingEvidence = Readonly<Record<string, Json>>;

interface FindingDetails {
  readonly help?: string;
  readonly evidence?: FindingEvidence;
}

export function well(code: string, what: string, evidence?: FindingEvidence): DiagnosisFinding {
  return { code, state: 'well', what, evidence };
}

export function note(code: string, what: string, { help, evidence }: FindingDetails = {}): DiagnosisFinding {
  return { code, state: 'note', what, help, evidence };
}

export function wrong(
  code: string,
  what: string,
  { help, evidence }: FindingDetails & { readonly help: string },
): DiagnosisFinding {
  return { code, state: 'wrong', what, help, evidence };
}

/** A duration for people: "40 s", "3 min", "2 h", "5 days". */
export function span(ms: number): string {
  const seconds = Math.round(Math.max(0, ms) / 1_000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 2 * 3_600) return `${Math.round(seconds / 60)} min`;
  if (seconds < 48 * 3_600) return `${Math.round(seconds / 3_600)} h`;
  return `${Math.round(seconds / 86_400)} days`;
}

/** "1 run", "3 runs", "at least 200 runs". */
export function counted(count: number, noun: string, isCut = false): string {
  return `${isCut ? 'at least ' : ''}${count} ${noun}${count === 1 ? '' : 's'}`;
}
