import { z } from 'zod';
import { Failure } from '../../base/errors/failure.ts';
import { parseJson } from '../../base/json.ts';
import { redact } from '../../base/log/redact.ts';
import type { Limits } from '../../base/wait/limits.ts';
import type { Ended, RunProgram } from '../../host/named-unit.ts';

/** One run of a container to its end. */
export interface ContainerRun {
  /** Names the container and its unit; a container of that name is replaced. */
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly entrypoint?: string;
  readonly network: 'host' | 'none';
  readonly user?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** In podman's notation. */
  readonly volumes: readonly string[];
  /** For volumes of the host whose SELinux labels must stay as they are. */
  readonly unlabeled?: true;
}

/** What podman says of an image in its storage. */
export interface StoredImage {
  readonly digest: string;
  /** `repository@digest`; several if the image belongs to a list of architectures. */
  readonly repoDigests: readonly string[];
  /** Such as amd64. */
  readonly architecture: string;
}

/** `name` is that of the image in its release: it names the unit of the call. */
export interface Podman {
  /** Returns what the container printed. @throws Failure (retry) that names image and arguments */
  run(container: ContainerRun, limits: Limits): Promise<string>;
  /** Undefined if the storage has none of that reference. */
  inspect(reference: string, name: string, limits: Limits): Promise<StoredImage | undefined>;
  pull(reference: string, name: string, limits: Limits): Promise<void>;
}

const inspectSchema = z.tuple([
  z.object({
    Digest: z.string(),
    RepoDigests: z.array(z.string()).nullable().default([]),
    Architecture: z.string(),
  }),
]);

/**
 * Where podman finds the pull secret on a live host: a service of the system has no home folder.
 */
const liveEnvironment = { HOME: '/root' };

/** The same on an installed host, where it is the kubelet's. */
export const installedEnvironment = {
  HOME: '/root',
  REGISTRY_AUTH_FILE: '/var/lib/kubelet/config.json',
};

/**
 * The host's podman, each call in a unit of its own: mounts and namespaces are denied in the agents'
 * sandbox. Mirrors and the proxy are those of the host: registries.conf, the environment of the
 * system's services.
 */
export function hostPodman(
  runProgram: RunProgram,
  environment: Readonly<Record<string, string>> = liveEnvironment,
): Podman {
  const podman = (name: string, args: readonly string[], limits: Limits) =>
    runProgram({ name, argv: ['podman', ...args], environment, ...limits });
  return {
    async run(container, limits) {
      const ended = await podman(container.name, runArguments(container), limits);
      if (ended.exitCode === 0) return ended.stdout;
      throw new Failure('retry', `the container ${container.name} failed`, {
        code: 'render-failed',
        subject: container.name,
        found: [
          ended.how,
          `image ${container.image}`,
          `arguments ${redact(container.command.join(' '))}`,
          ...lastLines(ended),
        ].join(' | '),
        fix: `See "journalctl -u ${container.name}".`,
      });
    },
    async inspect(reference, name, limits) {
      const ended = await podman(
        `sno-inspect-${name}`,
        ['image', 'inspect', '--', reference],
        limits,
      );
      // podman: 125 for an image that is not in the storage.
      if (ended.exitCode === 125) return undefined;
      const parsed = inspectSchema.safeParse(parseJson(ended.stdout));
      if (!parsed.success) throw commandFailed(`inspect the image ${reference}`, ended);
      const [{ Digest: digest, RepoDigests, Architecture: architecture }] = parsed.data;
      return { digest, repoDigests: RepoDigests ?? [], architecture };
    },
    async pull(reference, name, limits) {
      const ended = await podman(`sno-pull-${name}`, ['pull', '--quiet', '--', reference], limits);
      if (ended.exitCode !== 0) throw commandFailed(`pull ${reference}`, ended);
    },
  };
}

/** Of `podman`, for that container. */
export function runArguments(container: ContainerRun): string[] {
  const { name, image, command, entrypoint, network, user, volumes, unlabeled } = container;
  return [
    'run',
    ...['--quiet', '--rm', '--pull=never', '--log-driver=none'],
    // A container that an earlier attempt left behind does not block its name.
    ...['--replace', `--name=${name}`],
    `--network=${network}`,
    ...(user === undefined ? [] : [`--user=${user}`]),
    ...(entrypoint === undefined ? [] : [`--entrypoint=${entrypoint}`]),
    ...Object.entries(container.environment ?? {}).map(([key, value]) => `--env=${key}=${value}`),
    ...(unlabeled === undefined ? [] : ['--security-opt=label=disable']),
    ...volumes.map((volume) => `--volume=${volume}`),
    image,
    ...command,
  ];
}

function commandFailed(what: string, ended: Ended): Failure {
  return new Failure('retry', `podman could not ${what}`, {
    code: 'command-failed',
    found: [ended.how, ...lastLines(ended)].join(' | '),
  });
}

const SHOWN_LINES = 8;

/** Redacted as a whole: a key without its beginning would not be recognized. */
function lastLines({ stdout, stderr }: Ended): string[] {
  const text = redact(stderr.trim() === '' ? stdout : stderr).trim();
  return text === '' ? [] : text.split('\n').slice(-SHOWN_LINES);
}
