/** The environment of a worker: the variables of Cloud Functions, and the addresses of the local servers. Pure. */

interface WorkerEnvOptions {
  readonly projectId: string;
  readonly region: string;
  readonly firestore: string;
  readonly tasks: string;
  readonly pubsub: string;
  /** Servers of the above that this process runs: they can also be called by frames. */
  readonly own: readonly string[];
  readonly functionsUrl: string;
  /** Addresses that functions call: never those of this machine's environment, which in GitHub's CI are the real ones. */
  readonly github: { readonly url: string; readonly token: string };
  readonly slack: string;
  /** Environment of the user, which overrides every value set here. */
  readonly userEnv: Readonly<Record<string, string | undefined>>;
}

export function workerEnv(options: WorkerEnvOptions): Record<string, string> {
  const { projectId, region, firestore, tasks, pubsub, own, functionsUrl, github, slack, userEnv } = options;
  const ours = {
    GCLOUD_PROJECT: projectId,
    GOOGLE_CLOUD_PROJECT: projectId,
    FIREBASE_CONFIG: JSON.stringify(firebaseConfig(projectId)),
    FIRESTORE_EMULATOR_HOST: firestore,
    PUBSUB_EMULATOR_HOST: pubsub,
    CAIRN_TASKS_HOST: tasks,
    CLOUD_TASKS_EMULATOR_HOST: tasks,
    CAIRN_WIRE_HOSTS: own.join(','),
    CAIRN_FUNCTIONS_URL: functionsUrl,
    // Switches the functions to local settings: shorter leases, readable logs.
    CAIRN_LOCAL: '1',
    ENVIRONMENT: 'local',
    // A team to try commands with, in the tenant of the development key.
    SLACK_TENANTS: 'TLOCAL=local',
    // Tenants do not wait for each other: each has one of many queues, and each queue the places of an instance in every worker.
    DRIVE_QUEUES: '64',
    DRIVE_QUEUES_PER_TENANT: '1',
    FUNCTION_REGION: region,
    // One worker serves all functions, so the service is not named after one of them.
    K_SERVICE: 'cairn-local',
    K_REVISION: 'cairn-local-00001',
    // There is no metadata server here; looking for one costs seconds and leaves the machine.
    METADATA_SERVER_DETECTION: 'none',
  };
  const set = Object.entries(userEnv).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return {
    ...ours,
    ...Object.fromEntries(set),
    GCLOUD_PROJECT: projectId,
    GOOGLE_CLOUD_PROJECT: projectId,
    GITHUB_API_URL: github.url,
    GITHUB_TOKEN: github.token,
    SLACK_HOOKS_URL: slack,
  };
}

/** As in Firebase's emulators. A function for the events of a bucket or of a Realtime Database does not load without its default. */
const firebaseConfig = (projectId: string) => ({
  projectId,
  databaseURL: `https://${projectId}.firebaseio.com`,
  storageBucket: `${projectId}.appspot.com`,
});
