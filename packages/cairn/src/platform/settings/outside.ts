/** External URLs that an installation calls, from its parameters. */
import { cleanupHook, deployHook, githubApiUrl, slackHooksUrl } from './parameters.ts';
import { githubToken } from './secrets.ts';

/** Hooks that the shipped workflows call; undefined if not configured. @throws Error with the parameter that is not a URL */
export function hookUrls(): { readonly deploy: string | undefined; readonly cleanup: string | undefined } {
  return {
    deploy: hookUrl('DEPLOY_HOOK_URL', deployHook.value()),
    cleanup: hookUrl('CLEANUP_HOOK_URL', cleanupHook.value()),
  };
}

interface GithubAccess {
  /** Without a trailing slash. */
  readonly url: string;
  /** Undefined: there is no token, or it is not bound to this function. */
  readonly token: () => string | undefined;
}

/** @throws Error if the parameter is not a URL */
export function githubAccess(): GithubAccess {
  const url = baseUrl('GITHUB_API_URL', githubApiUrl.value());
  return { url, token: githubToken };
}

/** @throws Error if the parameter is not a URL */
export function slackHooks(): string {
  return baseUrl('SLACK_HOOKS_URL', slackHooksUrl.value());
}

function baseUrl(name: string, text: string): string {
  return checkedUrl(name, text).replace(/\/+$/, '');
}

function hookUrl(name: string, text: string): string | undefined {
  return text === '' ? undefined : checkedUrl(name, text);
}

function checkedUrl(name: string, text: string): string {
  // The error has no text of the URL, which may contain a secret.
  if (!/^https?:/.test(text) || !URL.canParse(text)) throw new Error(`${name} is not an http or https URL`);
  return text;
}
