/** Type of a route of the control port, and the error that it throws. */

export interface ControlRequest {
  /** Named groups of the route's path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  /** Parsed JSON, or undefined without a body. */
  readonly body: unknown;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Matches the whole path. */
  readonly path: RegExp;
  /** Returns the response as JSON. @throws ControlError for an invalid request */
  answer(request: ControlRequest): unknown;
}

export class ControlError extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'ControlError';
    this.status = status;
  }
}
