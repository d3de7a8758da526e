/** The environment of a worker: the variables of Cloud Functions, and the addresses of the local servers. Pure. */

interface WorkerEnvOptions {
  readonly projectId: string;
  readonly region: string;
  readonly firestore: string;
  readonly tasks: string;
  readonly pubsub: string;
  /** Those of the servers above that this process runs, so that they accept frames too. */
  readonly own: readonly string[];
  readonly functionsUrl: string;
  /** GitHub's API for the functions. Never taken from the environment, which in GitHub's CI has the real address. */
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
    // A team for trying commands, in the tenant of the development key.
    SLACK_TENANTS: 'TLOCAL=local',
    // Tenants do not wait for each other, because each has one of many queues, and each queue has its own places in every worker.
    DRIVE_QUEUES: '64',
    DRIVE_QUEUES_PER_TENANT: '1',
    FUNCTION_REGION: region,
    // One worker serves all functions, so the service is not named after one of them.
    K_SERVICE: 'cairn-local',
    K_REVISION: 'cairn-local-00001',
    // There is no metadata server here; a search for one takes seconds and sends requests to the network.
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

/** The values of Firebase's emulators. Functions for events of a bucket or of a Realtime Database do not load without a default. */
const firebaseConfig = (projectId: string) => ({
  projectId,
  databaseURL: `https://${projectId}.firebaseio.com`,
  storageBucket: `${projectId}.appspot.com`,
});
