/** The options of this repository's own installation. The first request loads the shipped workflows. */
const shipped = () => import('./shipped.ts');

export const installation = {
  workflows: async () => (await shipped()).installedWorkflows(),
  bindings: async () => (await shipped()).installedBindings(),
  github: true,
  slack: true,
  topics: ['cloud-builds', 'deploy-requests'],
  parameters: true,
  managedAccount: true,
} as const;
