/**
 * The secrets of what an installation opts into. Declared only then: a deployment asks for each that is declared. Read from the
 * environment and not by `value()`, which complains in the log of each function that is not given the secret.
 */
import { defineSecret } from 'firebase-functions/params';

/** Token for posting reviews; `none`: they are not posted. Only the functions that run bodies have it. */
const GITHUB_TOKEN = 'GITHUB_TOKEN';
/** One secret, or during an exchange several, separated by commas. */
const GITHUB_WEBHOOK_SECRET = 'GITHUB_WEBHOOK_SECRET';
/** Likewise. */
const SLACK_SIGNING_SECRET = 'SLACK_SIGNING_SECRET';

type Secret = ReturnType<typeof defineSecret>;

export const declareGithubToken = (): Secret => defineSecret(GITHUB_TOKEN);
export const declareGithubWebhookSecret = (): Secret => defineSecret(GITHUB_WEBHOOK_SECRET);
export const declareSlackSigningSecret = (): Secret => defineSecret(SLACK_SIGNING_SECRET);

export interface SecretText {
  readonly name: string;
  /** Empty: there is none, or this function does not have it. */
  readonly text: string;
}

export const githubWebhookSecrets = (): SecretText => read(GITHUB_WEBHOOK_SECRET);
export const slackSigningSecrets = (): SecretText => read(SLACK_SIGNING_SECRET);

/** Undefined: there is none, or this function does not have it. */
export function githubToken(): string | undefined {
  const token = read(GITHUB_TOKEN).text.trim();
  return token === '' || token === 'none' ? undefined : token;
}

const read = (name: string): SecretText => ({ name, text: process.env[name] ?? '' });
