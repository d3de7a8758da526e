/** The first text that a user sees: commands to try, and the page at `/`. Pure. */
import { createHmac } from 'node:crypto';

export interface Welcome {
  readonly gateway: string;
  /** GitHub's API, where the review posts. */
  readonly github: string;
  readonly apiKey: string;
  readonly githubSecret: string | undefined;
}

const REPOSITORY = {
  id: 42,
  name: 'uploader',
  full_name: 'acme/uploader',
  private: false,
  default_branch: 'main',
  owner: { login: 'acme', id: 2, type: 'Organization' },
};

/** A small pull request, with the fields of GitHub's payload that a review reads. */
export const EXAMPLE_PAYLOAD = JSON.stringify({
  action: 'opened',
  number: 7,
  pull_request: {
    id: 7,
    number: 7,
    state: 'open',
    title: 'Retry uploads that time out',
    body: 'Uploads over slow links failed for good.',
    html_url: 'https://github.com/acme/uploader/pull/7',
    url: 'https://api.github.com/repos/acme/uploader/pulls/7',
    draft: false,
    additions: 84,
    deletions: 12,
    changed_files: 3,
    commits: 2,
    labels: [],
    author_association: 'CONTRIBUTOR',
    assignees: [],
    requested_reviewers: [],
    requested_teams: [],
    user: { login: 'ada', id: 1, type: 'User' },
    head: { ref: 'retry-uploads', sha: '6dcb09b5b57875f334f61aebed695e2e4193db5e', repo: REPOSITORY },
    base: { ref: 'main', sha: '7638417db6d59f3c431d3e1f261cc637155684cd', repo: REPOSITORY },
  },
  repository: REPOSITORY,
  sender: { login: 'ada', id: 1, type: 'User' },
});

/** Shell commands, ready to paste: one signed delivery (if the secret is known), the runs, and the posts of its review. */
export function commandsToTry({ gateway, github, apiKey, githubSecret }: Welcome): string[] {
  const list = `curl -s ${gateway}/v1/runs -H 'authorization: Bearer ${apiKey}'`;
  if (githubSecret === undefined) return [list];
  const signature = createHmac('sha256', first(githubSecret)).update(EXAMPLE_PAYLOAD).digest('hex');
  const deliver = [
    `curl -i ${gateway}/webhooks/github`,
    `-H 'content-type: application/json'`,
    `-H 'x-github-event: pull_request'`,
    `-H "x-github-delivery: $(node -p 'crypto.randomUUID()')"`,
    `-H 'x-hub-signature-256: sha256=${signature}'`,
    `-d '${EXAMPLE_PAYLOAD}'`,
  ].join(' \\\n  ');
  return [deliver, list, `curl -s ${github}/repos/${REPOSITORY.full_name}/issues/7/comments`];
}

/** During a rotation a secret has several values, separated by commas; each one is valid. */
const first = (secrets: string) => secrets.split(',', 1)[0]?.trim() ?? '';

export function welcomePage(welcome: Welcome): string {
  const commands = commandsToTry(welcome).map((command) => `<pre>${escapeHtml(command)}</pre>`);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Cairn, local cloud</title>
<style>
  body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 3rem auto; padding: 0 1rem; }
  pre { background: #f4f4f2; padding: 1rem; overflow-x: auto; }
</style>
<h1>Cairn runs here</h1>
<p>This is the local cloud: Firestore, Cloud Tasks, Pub/Sub, the functions, a scheduler, and a stand-in for GitHub, on
this machine only.</p>
<ul>
  <li><code>/webhooks/github</code> accepts signed GitHub deliveries; each starts one run</li>
  <li><code>/v1/runs</code> lists runs; the API key is printed by <code>npm start</code> and used below</li>
</ul>
<h2>Send a first webhook, then look at the run, and at the comment it posts</h2>
${commands.join('\n')}
</html>
`;
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
