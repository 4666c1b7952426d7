import { z } from 'zod';
import { Failure } from '../../lib/base/errors/failure.ts';
import { readGoDocuments } from '../../lib/base/go-yaml/read.ts';
import { writeGoYaml } from '../../lib/base/go-yaml/write.ts';
import { readConfigText } from '../create/read-install-config.ts';
import type { Surroundings } from '../surroundings.ts';
import { JOB_LIMITS, type WaveOptions, waveJobs, waveName } from './jobs.ts';
import { matchesLabels } from './label-selector.ts';
import { requireName, requireNumber, requireSelector } from './names.ts';
import { readSites } from './read-sites.ts';

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
  readonly count?: string;
  readonly sites?: string;
  readonly kubeconfig?: string;
  readonly argoCd?: true;
}

/** What `sno fleet import` prints of 10,000 sites with long values. */
const MOST_SITES_BYTES = 64 << 20;

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
    argoCd: options.argoCd === true,
  };
  const count = await countOf(options, surroundings);
  const jobs = waveJobs(name, { ...wave, count });
  surroundings.print([headOf(name, wave), ...jobs.map(writeGoYaml)].join('---\n').trimEnd());
}

/** How many Sites the wave has: as said, in a file, or at the hub. */
async function countOf(options: JobsOptions, surroundings: Surroundings): Promise<number> {
  const { count, sites, namespace, selector } = options;
  if (count !== undefined && sites !== undefined) {
    throw new Failure('usage', '--count and --sites say the same', { expected: 'one of them' });
  }
  const limits = { least: 1, most: JOB_LIMITS.sites };
  if (count !== undefined) return requireNumber('--count', count, limits);
  const found =
    sites === undefined
      ? (await readSites(options, surroundings)).length
      : await matchingIn(sites, namespace, selector);
  if (found > 0 && found <= limits.most) return found;
  throw new Failure('usage', `no wave of ${selector} can be made; nothing was printed`, {
    expected: `1 to ${limits.most} Sites in the namespace ${namespace} with ${selector}`,
    found: `${found} ${sites === undefined ? 'at the hub' : `in ${sites}`}`,
  });
}

const objectSchema = z.looseObject({
  kind: z.string(),
  metadata: z
    .looseObject({
      namespace: z.string().optional(),
      labels: z.record(z.string(), z.string()).optional(),
    })
    .optional(),
  items: z.array(z.unknown()).optional(),
});

/** Sites in what `sno fleet import` has printed. @throws Failure (usage) */
async function matchingIn(path: string, namespace: string, selector: string): Promise<number> {
  const text = await readConfigText(path, 'another file with --sites', MOST_SITES_BYTES);
  const objects = readGoDocuments(text).map((document) => {
    if ('fault' in document) throw unreadable(path, `line ${document.line}: ${document.fault}`);
    return document.value;
  });
  let found = 0;
  for (let at = 0; at < objects.length; at += 1) {
    const object = objectSchema.safeParse(objects[at]).data;
    for (const item of object?.items ?? []) objects.push(item);
    const { namespace: own = namespace, labels = {} } = object?.metadata ?? {};
    if (object?.kind !== 'Site' || own !== namespace) continue;
    if (matchesLabels(selector, labels)) found += 1;
  }
  return found;
}

const unreadable = (path: string, found: string) =>
  new Failure('usage', `${path} cannot be used; nothing was printed`, {
    expected: 'what "sno fleet import" prints',
    found,
  });

function requireImage(image: string): string {
  if (/^[A-Za-z0-9][!-~]{0,499}$/.test(image)) return image;
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
