/**
 * The secrets of the enabled features. Other secrets are not declared, because a deployment asks for each declared one. They are read
 * from the environment, because `value()` logs a warning in each function to which the secret is not bound.
 */
import { defineSecret } from 'firebase-functions/params';

/** Token for posting reviews; `none`: reviews are not posted. Bound only to the functions that run bodies. */
const GITHUB_TOKEN = 'GITHUB_TOKEN';
/** One secret, or several separated by commas during a rotation. */
const GITHUB_WEBHOOK_SECRET = 'GITHUB_WEBHOOK_SECRET';
/** One secret, or several separated by commas during a rotation. */
const SLACK_SIGNING_SECRET = 'SLACK_SIGNING_SECRET';

type Secret = ReturnType<typeof defineSecret>;

export const declareGithubToken = (): Secret => defineSecret(GITHUB_TOKEN);
export const declareGithubWebhookSecret = (): Secret => defineSecret(GITHUB_WEBHOOK_SECRET);
export const declareSlackSigningSecret = (): Secret => defineSecret(SLACK_SIGNING_SECRET);

export interface SecretText {
  readonly name: string;
  /** Empty: there is no secret, or it is not bound to this function. */
  readonly text: string;
}

export const githubWebhookSecrets = (): SecretText => read(GITHUB_WEBHOOK_SECRET);
export const slackSigningSecrets = (): SecretText => read(SLACK_SIGNING_SECRET);

/** Undefined: there is no token, or it is not bound to this function. */
export function githubToken(): string | undefined {
  const token = read(GITHUB_TOKEN).text.trim();
  return token === '' || token === 'none' ? undefined : token;
}

const read = (name: string): SecretText => ({ name, text: process.env[name] ?? '' });
