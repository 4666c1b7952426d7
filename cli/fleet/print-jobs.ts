import { parseDuration } from '../../lib/base/duration.ts';
import { Failure } from '../../lib/base/errors/failure.ts';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import type { Surroundings } from '../surroundings.ts';
import { JOB_LIMITS, type WaveOptions, waveJobs, waveName } from './jobs.ts';
import { requireName, requireNumber, requireSelector } from './names.ts';
import { readSites } from './read-sites.ts';
import { requireUpdatable } from './updatable.ts';

export interface JobsOptions {
  readonly selector: string;
  readonly namespace: string;
  readonly image: string;
  readonly publishUrl: string;
  readonly hubServer: string;
  readonly hubCa?: string;
  readonly canaries: string;
  readonly parallelism: string;
  readonly maxFailed: string;
  readonly claim: string;
  readonly signSecret: string;
  readonly serviceAccount: string;
  readonly sharedIso?: string;
  readonly configByUrl?: true;
  readonly exchange: boolean;
  /** Such as `90m`. */
  readonly collectDeadline: string;
  readonly count?: string;
  readonly kubeconfig?: string;
  readonly argoCd?: true;
}

/**
 * `sno fleet jobs`: the Jobs of a wave, for `kubectl apply`.
 *
 * @throws Failure (usage), with nothing printed
 */
export async function printJobs(options: JobsOptions, surroundings: Surroundings): Promise<void> {
  const { image, claim, signSecret, serviceAccount } = options;
  const selector = requireSelector(options.selector);
  const namespace = requireName('--namespace', options.namespace);
  const name = waveName(selector);
  if (name === undefined) {
    throw new Failure('usage', '--selector makes no name of a Job', {
      expected:
        'at most 24 letters and digits, such as wave=1: give these Sites a label of their own',
      found: JSON.stringify(selector.slice(0, 80)),
    });
  }
  const { sites, parallelism, failed } = JOB_LIMITS;
  const wave = {
    selector,
    namespace,
    image: requireImage(image),
    publishUrl: requireUrl('--publish-url', options.publishUrl),
    hubServer: requireUrl('--hub-server', options.hubServer),
    hubCa: options.hubCa === undefined ? undefined : requireName('--hub-ca', options.hubCa),
    claim: requireName('--claim', claim),
    signSecret: requireName('--sign-secret', signSecret),
    serviceAccount: requireName('--service-account', serviceAccount),
    canaries: requireNumber('--canaries', options.canaries, { least: 0, most: sites }),
    parallelism: requireNumber('--parallelism', options.parallelism, {
      least: 1,
      most: parallelism,
    }),
    maxFailed: requireNumber('--max-failed', options.maxFailed, { least: 0, most: failed }),
    ...(options.sharedIso === undefined ? {} : { sharedIso: requireFile(options.sharedIso) }),
    configByUrl: options.configByUrl === true,
    exchange: options.exchange,
    collectSeconds: requireDeadline(options.collectDeadline),
    argoCd: options.argoCd === true,
  };
  const count = await countOf(options, surroundings);
  const jobs = waveJobs(name, { ...wave, count });
  surroundings.print([headOf(name, wave), ...jobs.map(writeGoYaml)].join('---\n').trimEnd());
}

/** How many Sites the wave has: as said, or at the hub, which judges its selector. */
async function countOf(options: JobsOptions, surroundings: Surroundings): Promise<number> {
  const { count, namespace, selector } = options;
  const limits = { least: 1, most: JOB_LIMITS.sites };
  if (count !== undefined) return requireNumber('--count', count, limits);
  const sites = await readSites(options, surroundings);
  requireUpdatable(sites);
  const found = sites.length;
  if (found > 0 && found <= limits.most) return found;
  throw new Failure('usage', `no wave of ${selector} can be made; nothing was printed`, {
    expected: `1 to ${limits.most} Sites in the namespace ${namespace} with ${selector}`,
    found: `${found} at the hub`,
    fix: 'Apply the Sites first, or set --count.',
  });
}

/** A file in the folder of volumes. @throws Failure (usage) */
function requireFile(name: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9._-]{0,199}$/.test(name)) return name;
  throw new Failure('usage', '--shared-iso is not the name of a file', {
    expected: 'that of an ISO in the claim of the volumes, such as shared.iso',
    found: JSON.stringify(name.slice(0, 80)),
  });
}

const MOST_COLLECT_SECONDS = 30 * 24 * 60 * 60;

/** @throws Failure (usage) */
function requireDeadline(text: string): number {
  const seconds = Math.ceil(parseDuration('--collect-deadline', text) / 1000);
  if (seconds >= 60 && seconds <= MOST_COLLECT_SECONDS) return seconds;
  throw new Failure('usage', '--collect-deadline is not one that can be used', {
    expected: 'from 1m to 720h',
    found: JSON.stringify(text.slice(0, 80)),
  });
}

/** Host, port and path, and a tag or a digest: no URL, which the kubelet would refuse in each pod. */
const IMAGE =
  /^[A-Za-z0-9][\w.-]*(?::\d+)?(?:\/[a-z0-9][a-z0-9._-]*)*(?::\w[\w.-]*)?(?:@sha(?:256|384|512):[0-9a-f]+)?$/;

function requireImage(image: string): string {
  if (image.length <= 500 && IMAGE.test(image)) return image;
  throw new Failure('usage', '--image is not the name of an image', {
    expected: 'one such as registry.example.com/sno@sha256:…',
    found: JSON.stringify(image.slice(0, 80)),
  });
}

/** For nodes and BMCs: without TLS, others could answer in its place. */
function requireUrl(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isGood =
    url?.protocol === 'https:' &&
    url.username === '' &&
    url.password === '' &&
    url.search === '' &&
    url.hash === '';
  if (isGood) return url.href.replace(/\/+$/, '');
  throw new Failure('usage', `${option} is not an address that can be used`, {
    expected: 'https://HOST[:PORT][/PATH], without a user and a query',
    found: JSON.stringify(text.slice(0, 80)),
  });
}

function headOf(
  name: string,
  { argoCd, canaries, namespace }: Pick<WaveOptions, 'argoCd' | 'canaries' | 'namespace'>,
): string {
  const order =
    canaries > 0
      ? [`${name}-canary`, `${name}-canary-collect`, name, `${name}-collect`]
      : [name, `${name}-collect`];
  const start = argoCd
    ? ['# Argo CD runs them one after the other, by their sync waves.']
    : order.slice(1).map((each, at) => {
        const before = order[at] ?? '';
        const ended = before === name ? 'has ended' : 'is complete';
        return `# Once ${before} ${ended}: kubectl -n ${namespace} patch job ${each} -p '{"spec":{"suspend":false}}'`;
      });
  return `${[`# The Jobs of a wave, in this order: ${order.join(', ')}`, ...start].join('\n')}\n`;
}
