import { Failure, type FailureDetails } from '../../../lib/base/errors/failure.ts';
import { inOneLine } from '../../../lib/base/printable.ts';
import { isDiskFullText } from '../../create/full-disk.ts';
import { runProgram } from '../../process/program.ts';

/** How registries are asked: by skopeo, with its logins, proxies, trust and mirrors. */
export interface RegistryAccess {
  /** A file of logins; undefined: where "skopeo login" writes it. */
  readonly pullSecret: string | undefined;
  readonly signal: AbortSignal;
}

const INSPECT_MS = 2 * 60_000;
const COPY_MS = 30 * 60_000;

/** The manifest of a reference, or of REPOSITORY@DIGEST, as the registry has it. @throws Failure */
export const inspectManifest = (image: string, access: RegistryAccess): Promise<Buffer> =>
  skopeo(['inspect', '--raw', ...authFile(access), `docker://${image}`], image, INSPECT_MS, access);

/** The configuration of an image, as the registry has it. @throws Failure */
export const inspectConfig = (image: string, access: RegistryAccess): Promise<Buffer> => {
  const what = ['inspect', '--config', '--raw'];
  return skopeo([...what, ...authFile(access), `docker://${image}`], image, INSPECT_MS, access);
};

/**
 * Copies the layers of an image that are missing in `blobs`, each under its digest. `layout` gets the rest of an OCI
 * layout, whose configuration may be another one: skopeo converts it. @throws Failure
 */
export async function copyLayers(
  image: string,
  { layout, blobs }: { readonly layout: string; readonly blobs: string },
  access: RegistryAccess,
): Promise<void> {
  const options = [
    ...['copy', '--quiet', '--remove-signatures'],
    ...['--dest-oci-accept-uncompressed-layers', '--dest-shared-blob-dir', blobs],
    ...authFile(access),
  ];
  await skopeo([...options, `docker://${image}`, `oci:${layout}:image`], image, COPY_MS, access);
}

const authFile = ({ pullSecret }: RegistryAccess) =>
  pullSecret === undefined ? [] : ['--authfile', pullSecret];

async function skopeo(
  args: readonly string[],
  image: string,
  deadlineMs: number,
  { signal }: RegistryAccess,
): Promise<Buffer> {
  const { ok, ending, stdout, stderr } = await runProgram('skopeo', args, { signal, deadlineMs });
  if (ok) return stdout;
  throw skopeoFailure(image, ending, stderr);
}

interface KnownCause {
  readonly pattern: RegExp;
  readonly expected: string;
  fix(registry: string): string;
}

/** What a person has to mend, by skopeo's words; the first that matches counts. Anything else is tried again. */
const CAUSES: readonly KnownCause[] = [
  {
    pattern: /x509|certificate|HTTP response to HTTPS client/i,
    expected: 'HTTPS with a certificate that is trusted here',
    fix: (registry) =>
      `Add the authority of ${registry} to the trusted ones of this machine, or name its file in SSL_CERT_FILE.`,
  },
  {
    pattern: /toomanyrequests|too many requests|\b429\b/i,
    expected: 'a registry that allows one more download',
    fix: (registry) =>
      `Log in with "skopeo login ${registry}", wait, or use a mirror (--registry).`,
  },
  {
    pattern:
      /unauthorized|authentication required|access denied|denied:|\b40[13]\b|invalid username/i,
    expected: 'a registry that allows its download',
    fix: (registry) =>
      `Log in with "skopeo login ${registry}", or name a file of logins with --pull-secret.`,
  },
  {
    pattern: /auth(?:file)?.*no such file|error reading JSON file|unmarshaling JSON/i,
    expected: 'a file of logins that can be read',
    fix: () => 'Correct the file that --pull-secret or REGISTRY_AUTH_FILE names.',
  },
  {
    pattern: /does not match provided manifest digest|digest did not match|digest mismatch/i,
    expected: 'what its digest says',
    fix: () =>
      'The registry serves another or a damaged image. Use another mirror (--registry), or repair this one.',
  },
  {
    pattern: /manifest unknown|name unknown|not found|\b404\b/i,
    expected: 'a registry that has it',
    fix: () => 'Check the version, and that a mirror (--registry) has the image in this place.',
  },
];

export function skopeoFailure(image: string, ending: string, stderr: string): Failure {
  if (ending === 'program not found') {
    return new Failure('usage', 'Images are fetched with skopeo, which is not installed here', {
      fix: 'Install the package skopeo, or create the payload from archives and programs (--image, --binary, --cni).',
    });
  }
  const found = stderr === '' ? ending : lastMessage(stderr);
  const what = `${image} cannot be fetched`;
  if (isDiskFullText(stderr)) return new Failure('usage', what, { code: 'disk-full', found });
  const registry = image.slice(0, image.indexOf('/'));
  const cause = CAUSES.find(({ pattern }) => pattern.test(found));
  if (cause === undefined) return new Failure('retry', what, { found });
  const details: FailureDetails = { expected: cause.expected, found, fix: cause.fix(registry) };
  return new Failure('usage', what, details);
}

/** Of `time="…" level=fatal msg="…"`, the message. */
function lastMessage(stderr: string): string {
  const line = stderr.split('\n').at(-1) ?? '';
  const [, quoted] = /\bmsg=("(?:[^"\\]|\\.)*")/.exec(line) ?? [];
  if (quoted === undefined) return line;
  const text: unknown = JSON.parse(quoted);
  return inOneLine(String(text)).replace(/^Error parsing image name "[^"]*": /, '');
}
