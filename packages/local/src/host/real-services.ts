/** Warns of services without a local stand-in, because functions reach the real ones of the project. Pure. */

interface Service {
  readonly name: string;
  /** Member of `firebase.json`. */
  readonly member: string;
  /** Types of its events, of both generations. */
  readonly events: RegExp;
  /** Variables of the environment with which Firebase's libraries call an emulator. */
  readonly variables: readonly string[];
  /** Default address of Firebase's emulator. */
  readonly address: string;
}

/** Services whose defaults `FIREBASE_CONFIG` names. */
const SERVICES: readonly Service[] = [
  {
    name: 'Cloud Storage',
    member: 'storage',
    events: /^google\.(?:cloud\.)?storage\./,
    variables: ['FIREBASE_STORAGE_EMULATOR_HOST', 'STORAGE_EMULATOR_HOST'],
    address: '127.0.0.1:9199',
  },
  {
    name: 'the Realtime Database',
    member: 'database',
    events: /google\.firebase\.database/,
    variables: ['FIREBASE_DATABASE_EMULATOR_HOST'],
    address: '127.0.0.1:9000',
  },
];

interface Codebase {
  readonly projectId: string;
  readonly eventTypes: readonly string[];
  readonly firebaseJson: object;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** @returns a warning for each service of a real project that the codebase is likely to use, by the name of the service */
export function realServices({
  projectId,
  eventTypes,
  firebaseJson,
  env,
}: Codebase): ReadonlyMap<string, string> {
  const isUsed = ({ member, events, variables }: Service) =>
    (member in firebaseJson || eventTypes.some((type) => events.test(type))) &&
    variables.every((name) => !env[name]);
  // Projects with this prefix do not exist.
  const used = projectId.startsWith('demo-') ? [] : SERVICES.filter(isUsed);
  return new Map(
    used.map(({ name, variables: [variable], address }) => [
      name,
      `functions that use ${name} reach that of the project '${projectId}', if this machine has credentials for it. ` +
        `Start with ${variable}=${address} for an emulator there, or with a project of the prefix demo-.`,
    ]),
  );
}
