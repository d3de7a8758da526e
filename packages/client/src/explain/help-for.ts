/** Help texts for errors that ended or blocked a run. Pure. */

const HELP: Readonly<Record<string, string>> = {
  RUN_ORPHANED: 'Check the step that was under way, then resume the run. A new run continues it.',
  RUN_RESUME_FAILED:
    'The run was interrupted repeatedly at the same step. Preview a resume to see what prevents it.',
  PLAN_VERSION_UNAVAILABLE: 'Deploy that version of the workflow, or fork the run to a deployed version.',
  PLAN_CHANGED:
    'Deploy that version unchanged, and the new definition under the next version. The run then continues by itself.',
  EFFECT_IN_DOUBT:
    'See under Effects what was said of the call. Resume the run to make the call, if it did not take place.',
  EFFECT_REQUEST_MISMATCH: 'Fork the run to send the new request, or restore the first one.',
  PAYLOAD_TOO_LARGE: 'Store large values elsewhere and pass a reference.',
  APPROVAL_REJECTED: 'A person rejected it. Resume the run to ask again.',
  APPROVAL_EXPIRED: 'Nobody answered in time. Resume the run to ask again.',
};

/** Workflows define their own codes, so an unknown code gets a general help text. */
export function helpFor(code: string): string {
  return Object.hasOwn(HELP, code)
    ? (HELP[code] ?? '')
    : 'Fix the cause, then resume the run. A new run continues from the last checkpoint.';
}
