import { Failure } from '../../lib/base/errors/failure.ts';
import type { AcceptOptions } from '../payload/accept.ts';

/** What a live host without a medium fetches, from the command line. */
export interface ServedOptions extends AcceptOptions {
  /** URL of the sno-agents executable. */
  agentsUrl?: string;
  /** URL of the folder with payload.yaml. */
  payloadUrl?: string;
  /** Folder with the payload.yaml that the live host must find. */
  payload?: string;
  /** The same, by the digest of payload.yaml. */
  payloadSha256?: string;
}

/**
 * Host, port and a path of plain characters: nothing that a config file, a unit or
 * a log could interpret.
 */
const PLAIN_URL =
  /^https?:\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:\d{1,5})?(\/([A-Za-z0-9._~+@,=:-]|%[0-9A-Fa-f]{2})*)*$/;

/** @throws Failure (usage) that names every fault of these options. */
export function requireServed(options: ServedOptions): void {
  const faults = servedFaults(options);
  if (faults.length === 0) return;
  throw new Failure('usage', [...faults, 'Nothing was written'].join('\n'));
}

/** Every fault of these options, one sentence each. */
export function servedFaults(options: ServedOptions): string[] {
  const { agentsUrl, payloadUrl, payload, payloadSha256 } = options;
  return [
    ...urlFaults('--agents-url', agentsUrl),
    ...urlFaults('--payload-url', payloadUrl),
    ...(payloadSha256 === undefined || /^[0-9a-f]{64}$/.test(payloadSha256)
      ? []
      : ['--payload-sha256: expected 64 hexadecimal digits, in lower case']),
    ...(payload === undefined || payloadSha256 === undefined
      ? []
      : ['--payload and --payload-sha256 exclude each other: use one of them']),
    ...(payloadUrl === undefined || payload !== undefined || payloadSha256 !== undefined
      ? []
      : ['--payload-url requires the digest of the payload: use --payload or --payload-sha256']),
  ];
}

function urlFaults(option: string, url: string | undefined): string[] {
  if (url === undefined || (PLAIN_URL.test(url) && URL.canParse(url))) return [];
  if (URL.canParse(url)) {
    const { username, password, search, hash } = new URL(url);
    if (username !== '' || password !== '') {
      return [`${option}: expected no user or password, which anyone on the host could read`];
    }
    if (search !== '' || hash !== '') return [`${option}: expected no "?" and no "#" in ${url}`];
  }
  return [
    `${option}: expected an http or https URL of plain characters (others as %XX), found ${JSON.stringify(url)}`,
  ];
}
