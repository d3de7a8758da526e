/** Reads the state of a project, and creates what it lacks. */
import type { FirebaseTools, Policy } from './firebase-tools.ts';
import { APIS, BUILDER, type DatabaseFacts, type ProjectFacts, RIGHTS, type SetUp } from './preflight.ts';

interface Asked {
  readonly project: string;
  /** Undefined if run events are not published. */
  readonly topic: string | undefined;
  /** Database of the functions. */
  readonly database: string;
}

/** @throws Error naming a project that cannot be read */
export async function factsOf(
  tools: FirebaseTools,
  { project, topic, database }: Asked,
): Promise<ProjectFacts> {
  const number = await numberOf(tools, project);
  const buildAccount = `${number}-compute@developer.gserviceaccount.com`;
  const [billing, missing, policy, enabled, hasTopic, databaseFacts] = await Promise.all([
    billingOf(tools, project),
    tools
      .missing(
        project,
        RIGHTS.map(({ permission }) => permission),
      )
      // Everybody may ask: the API is off, which is a problem of its own.
      .catch(forbidden<readonly string[]>([])),
    tools.policyOf(project).catch(forbidden<Policy | undefined>(undefined)),
    Promise.all(APIS.map((api) => tools.isEnabled(project, api))),
    topic === undefined ? true : exists(tools, `projects/${project}/topics/${topic}`),
    databaseOf(tools, project, database),
  ]);
  return {
    project,
    number,
    billing,
    missing,
    buildAccount,
    buildRoles: policy && rolesIn(policy, `serviceAccount:${buildAccount}`),
    disabledApis: APIS.filter((_, at) => !enabled[at]),
    absentTopic: hasTopic ? undefined : topic,
    database: databaseFacts,
  };
}

/** True if a function of one of the codebases is deployed. */
export async function isDeployed(
  tools: FirebaseTools,
  project: string,
  codebases: readonly string[],
): Promise<boolean> {
  return (await functionsOf(tools, project, codebases)).length > 0;
}

interface DeployedFunction {
  /** Name with project and location. */
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
}

/** Functions of the codebases that are deployed. */
export async function functionsOf(
  tools: FirebaseTools,
  project: string,
  codebases: readonly string[],
): Promise<readonly DeployedFunction[]> {
  const client = tools.client('https://cloudfunctions.googleapis.com', 'v2');
  const { body } = await client
    .get(`projects/${project}/locations/-/functions?pageSize=${PAGE}`)
    // A disabled API means that nothing was ever deployed. The check of permissions reports a caller who may not list.
    .catch(forbidden({ body: {} }));
  const { functions = [] } = body as { functions?: DeployedFunction[] };
  return functions.filter(({ labels = {} }) =>
    codebases.includes(labels['firebase-functions-codebase'] ?? 'default'),
  );
}

/** Maximum of functions that are read; enough to find one of the installation. */
const PAGE = 1_000;

/** @returns a description of what was created */
export async function setUp(tools: FirebaseTools, project: string, what: SetUp): Promise<string> {
  switch (what.kind) {
    case 'api':
      await tools.enable(project, what.name);
      return `enabled ${what.name}`;
    case 'builder':
      await tools.setPolicy(project, granted(await tools.policyOf(project), BUILDER, what.account));
      return `gave ${BUILDER} to ${what.account}`;
    case 'topic':
      await tools
        .client('https://pubsub.googleapis.com', 'v1')
        .put(`projects/${project}/topics/${what.name}`, {});
      return `created the topic ${what.name}`;
  }
}

/** Google's answer of an API that is off; it names the page that enables it. */
const OFF = /has not been used in project/;

async function numberOf(tools: FirebaseTools, project: string): Promise<string> {
  try {
    const { body } = await tools
      .client('https://firebase.googleapis.com', 'v1beta1')
      .get(`projects/${project}`);
    return (body as { projectNumber: string }).projectNumber;
  } catch (error) {
    const { status, message } = error as { status?: number; message: string };
    if ((status !== 403 && status !== 404) || OFF.test(message)) throw error;
    throw new Error(
      `There is no Firebase project '${project}' that you may see. npm run firebase -- projects:list lists yours; ` +
        '.firebaserc gives aliases.',
    );
  }
}

/** True if the state cannot be read; then the deployment reports the problem. */
async function billingOf(tools: FirebaseTools, project: string): Promise<boolean> {
  const { body } = await tools
    .client('https://cloudbilling.googleapis.com', 'v1')
    .get(`projects/${project}/billingInfo`)
    .catch(forbidden({ body: { billingEnabled: true } }));
  return (body as { billingEnabled?: boolean }).billingEnabled === true;
}

async function databaseOf(tools: FirebaseTools, project: string, name: string): Promise<DatabaseFacts> {
  try {
    const { body } = await tools
      .client('https://firestore.googleapis.com', 'v1')
      .get(`projects/${project}/databases/${name}`);
    const { type } = body as { type?: string };
    return { name, state: type === 'DATASTORE_MODE' ? 'datastore-mode' : 'usable' };
  } catch (error) {
    if ((error as { status?: number }).status === 404) return { name, state: 'absent' };
    return forbidden<DatabaseFacts>({ name, state: 'unknown' })(error);
  }
}

async function exists(tools: FirebaseTools, topic: string): Promise<boolean> {
  try {
    await tools.client('https://pubsub.googleapis.com', 'v1').get(topic);
    return true;
  } catch (error) {
    if ((error as { status?: number }).status === 404) return false;
    return forbidden(true)(error);
  }
}

function forbidden<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    if ((error as { status?: number }).status === 403) return otherwise;
    throw error;
  };
}

const rolesIn = ({ bindings = [] }: Policy, member: string): string[] =>
  bindings.filter(({ members }) => members.includes(member)).map(({ role }) => role);

function granted(policy: Policy, role: string, account: string): Policy {
  const member = `serviceAccount:${account}`;
  const bindings = policy.bindings ?? [];
  const known = bindings.find((one) => one.role === role && !('condition' in one));
  if (known) known.members.push(member);
  else bindings.push({ role, members: [member] });
  return { ...policy, bindings };
}
