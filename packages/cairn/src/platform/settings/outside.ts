/** URLs outside that an installation calls, from its parameters. */
import { cleanupHook, deployHook, githubApiUrl, slackHooksUrl } from './parameters.ts';
import { githubToken } from './secrets.ts';

/** Hooks that the shipped workflows call; undefined for one that is not configured. @throws Error naming a parameter that is no URL */
export function hookUrls(): { readonly deploy: string | undefined; readonly cleanup: string | undefined } {
  return {
    deploy: hookUrl('DEPLOY_HOOK_URL', deployHook.value()),
    cleanup: hookUrl('CLEANUP_HOOK_URL', cleanupHook.value()),
  };
}

interface GithubAccess {
  /** Without a slash at the end. */
  readonly url: string;
  /** Undefined: there is none, or this function does not have it. */
  readonly token: () => string | undefined;
}

/** @throws Error if the parameter is no URL */
export function githubAccess(): GithubAccess {
  const url = baseUrl('GITHUB_API_URL', githubApiUrl.value());
  return { url, token: githubToken };
}

/** @throws Error likewise */
export function slackHooks(): string {
  return baseUrl('SLACK_HOOKS_URL', slackHooksUrl.value());
}

function baseUrl(name: string, text: string): string {
  const url = hookUrl(name, text);
  if (url === undefined) throw new Error(`${name} is empty`);
  return url.replace(/\/+$/, '');
}

function hookUrl(name: string, text: string): string | undefined {
  if (text === '') return undefined;
  // The text is left out: it may carry a secret.
  if (!/^https?:/.test(text) || !URL.canParse(text)) throw new Error(`${name} is not an http or https URL`);
  return text;
}
