import { inPlaceConfigFile } from '../../lib/cluster/installation/in-place/config.ts';
import { isUserDataOf, userDataFile } from '../../lib/cluster/installation/in-place/user-data.ts';
import { readMarker } from '../../lib/cluster/installation/marker.ts';
import { done } from '../../lib/engine/steps/step.ts';
import type { StepBody } from '../../lib/engine/steps/within.ts';
import { exists } from '../../lib/host/files.ts';
import type { HostPaths } from '../../lib/host/paths.ts';

const ANSWER_MS = 3_000;
const MOST_BYTES = 256 << 10;

/** A question to a metadata service. */
export interface MetadataQuestion {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Where AWS gives a token for it. */
  readonly token?: string;
  /** How the answer is encoded. Default: not at all. */
  readonly encoding?: 'base64';
}

/**
 * As Ignition asks them (internal/providers): AWS by both families, GCP, OpenStack, and Azure for its user data. Azure's
 * custom data is on a drive, and nobody serves it.
 */
const QUESTIONS: readonly MetadataQuestion[] = [
  ...['169.254.169.254', '[fd00:ec2::254]'].map((host) => ({
    url: `http://${host}/latest/user-data`,
    token: `http://${host}/latest/api/token`,
  })),
  {
    url: 'http://169.254.169.254/computeMetadata/v1/instance/attributes/user-data',
    headers: { 'Metadata-Flavor': 'Google' },
  },
  { url: 'http://169.254.169.254/openstack/latest/user_data' },
  {
    url: 'http://169.254.169.254/metadata/instance/compute/userData?api-version=2021-01-01&format=text',
    headers: { Metadata: 'true' },
    encoding: 'base64',
  },
];

/**
 * Asks the metadata services whether they still have the user data of this host, for the record. Its key opens nothing any
 * more, but it has the network and the login of the host. Nothing depends on the answer.
 */
export const askUserData = (
  questions: readonly MetadataQuestion[] = QUESTIONS,
): StepBody<{ readonly paths: HostPaths }> => ({
  name: 'user-data',
  leaves: 'whether a metadata service still serves the user data, for the record',
  touches: ['disk', 'network'],
  neededUntil: 'forget',
  input: () => null,
  holds: ({ paths }) => exists(userDataFile(paths).path),
  async run({ paths }, progress) {
    const clusterId = await ownId(paths);
    const asked = await Promise.all(questions.map((each) => answerOf(each, progress.signal)));
    progress.signal.throwIfAborted();
    const isServed = asked.some((text) => clusterId !== undefined && isUserDataOf(clusterId, text));
    await userDataFile(paths).write({ isServed });
    if (!isServed) return done('no metadata service has it');
    progress.warn(
      'A metadata service still serves the user data of this host to every process on it. Delete in-place.bundle on its server if it is still there, and remove the user data where the cloud permits that.',
    );
    return done('still served');
  },
});

async function ownId(paths: HostPaths): Promise<string | undefined> {
  const config = await inPlaceConfigFile(paths)
    .read()
    .catch(() => undefined);
  return config?.clusterId ?? (await readMarker(paths.at('/var')))?.clusterId;
}

/** Empty where nobody answers, or something else than a short text. */
async function answerOf(
  { url, headers = {}, token, encoding }: MetadataQuestion,
  signal: AbortSignal,
): Promise<string> {
  const given = token === undefined ? '' : await ask(token, 'PUT', TOKEN_LIFETIME, signal);
  const tokens = given === '' ? {} : { 'X-aws-ec2-metadata-token': given };
  const answer = await ask(url, 'GET', { ...headers, ...tokens }, signal);
  return encoding === undefined ? answer : Buffer.from(answer, encoding).toString('utf8');
}

const TOKEN_LIFETIME = { 'X-aws-ec2-metadata-token-ttl-seconds': '60' };

async function ask(
  url: string,
  method: 'GET' | 'PUT',
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<string> {
  try {
    const within = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
    const response = await fetch(url, { method, headers, redirect: 'error', signal: within });
    if (!response.ok || response.body === null) return '';
    const pieces: Uint8Array[] = [];
    let bytes = 0;
    for await (const piece of response.body) {
      bytes += piece.length;
      if (bytes > MOST_BYTES) return '';
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString('utf8');
  } catch {
    return '';
  }
}
