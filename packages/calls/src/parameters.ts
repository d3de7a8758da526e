/** The parameters of the kit: `firebase functions:kits:install` asks for them, for each instance. */
import { defineInt, defineSecret, defineString, select } from 'firebase-functions/params';

/** Declared also by the module that an installation writes. */
export const region = defineString('FUNCTION_DEFAULT_REGION', {
  default: 'us-central1',
  description: 'Region of the functions and of their task queues.',
});

export const targetUrl = defineString('CALL_TARGET_URL', {
  label: 'Receiver',
  description: 'Base URL of all calls of this instance, such as https://api.example.com/v2.',
  input: {
    text: {
      example: 'https://api.example.com/v2',
      validationRegex: '^https?://[^\\s?#@]+$',
      validationErrorMessage: 'Enter an http or https URL without user, query and fragment.',
    },
  },
});

export const token = defineSecret('CALL_TOKEN', {
  label: 'Token of the receiver',
  description: 'Sent to the receiver as Authorization: Bearer. Enter none to send no header.',
});

const approval = defineString('CALL_APPROVAL', {
  label: 'Approval',
  default: 'never',
  description: 'Require approval of each call.',
  input: select({ 'No approval': 'never', 'Each call needs approval': 'always' }),
});

const doubt = defineString('CALL_IN_DOUBT', {
  label: 'Calls in doubt',
  default: 'ask',
  description:
    'Handling of a call without a response. Repeat it only if the receiver acts once per Idempotency-Key.',
  input: select({ 'Ask for a decision': 'ask', 'Repeat it with the same Idempotency-Key': 'repeat' }),
});

defineString('FIRESTORE_DATABASE', {
  label: 'Firestore database',
  default: '(default)',
  description: 'Firestore database that holds the runs. It must exist, in Native mode.',
});

defineInt('RETENTION_DAYS', {
  label: 'Days to keep runs',
  default: 90,
  description: 'Days that runs are kept after their end. 0: forever.',
});

export type Approval = 'never' | 'always';
export type InDoubt = 'ask' | 'repeat';

/** @throws Error for another value */
export const needsApproval = (): Approval =>
  oneOf('CALL_APPROVAL', approval.value() || 'never', ['never', 'always']);

/** @throws Error for another value */
export const inDoubt = (): InDoubt => oneOf('CALL_IN_DOUBT', doubt.value() || 'ask', ['ask', 'repeat']);

function oneOf<T extends string>(name: string, value: string, values: readonly T[]): T {
  const found = values.find((one) => one === value);
  if (found === undefined) throw new Error(`${name} is '${value}'; it must be ${values.join(' or ')}`);
  return found;
}
