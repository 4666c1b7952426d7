import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Failure } from '../../../lib/base/errors/failure.ts';
import type { Progress } from '../../../lib/engine/steps/progress.ts';
import { renewLeaf } from '../../../lib/pki/leaf.ts';
import type { RenewableLeaf } from '../../../lib/render/kubernetes/leaves.ts';
import { writeKeptFiles } from '../../../lib/secrets/seal/files.ts';
import type { RenewContext } from '../../steps/certificates/context.ts';
import { prove } from '../../steps/certificates/prove.ts';
import { dropReplaced, keepReplaced, readReplaced } from '../../steps/certificates/replaced.ts';
import { isValid, type LeafOnDisk, notSigned, readSigner } from '../../steps/leaf-files.ts';

/**
 * A client's open connections may last this long on the old certificate, which the server verifies
 * for each request (client-go, cert_rotation.go).
 */
const OVERLAP_MS = 5 * 60_000;

/**
 * Signs a leaf again and proves that the new certificate works; restores the old one if not. The
 * key stays, so that certificate and key match at every moment.
 *
 * @throws Failure `leaf-not-signed` or `leaf-not-accepted`; the reason of the signal.
 */
export async function replaceLeaf(
  context: RenewContext,
  { leaf, pem }: LeafOnDisk<RenewableLeaf>,
  progress: Progress,
): Promise<void> {
  const fresh = await signed(context, leaf, pem);
  if (!isValid(pem, new Date(Date.now() + OVERLAP_MS))) {
    progress.warn(
      `${leaf.name} expires within five minutes or has expired: connections that are open may be refused until they are made again`,
    );
  }
  await keepReplaced(context.paths, leaf.name, pem);
  await writeKeptFiles(context.paths, [{ path: leaf.certificate, contents: fresh, mode: 0o644 }]);
  await proveOrRestore(context, leaf, pem, progress);
}

/** Proves a new certificate that an earlier run has written and not proven. */
export async function resumeLeaf(
  context: RenewContext,
  { leaf }: { readonly leaf: RenewableLeaf },
  progress: Progress,
): Promise<void> {
  const pem = await readReplaced(context.paths, leaf.name);
  if (pem !== undefined) await proveOrRestore(context, leaf, pem, progress);
}

async function signed({ paths }: RenewContext, leaf: RenewableLeaf, pem: string): Promise<string> {
  try {
    const key = createPrivateKey(await readFile(paths.at(leaf.key), 'utf8'));
    if (!new X509Certificate(pem).checkPrivateKey(key)) {
      throw new Failure('fatal', `${leaf.key} is not the key of ${leaf.certificate}`);
    }
    return await renewLeaf(pem, await readSigner(paths, leaf.authority), new Date());
  } catch (cause) {
    throw notSigned(leaf, cause);
  }
}

/** `old`: the replaced certificate. */
async function proveOrRestore(
  context: RenewContext,
  leaf: RenewableLeaf,
  old: string,
  progress: Progress,
): Promise<void> {
  const { paths } = context;
  try {
    const seen = await prove(context, leaf, progress);
    progress.say(`Renewed ${leaf.name}: ${seen}`);
  } catch (cause) {
    // An expired certificate helps nobody; what prevents the proof may be something else. Then the
    // replaced one is kept, so that the next run proves the new one again.
    const isUsable = isValid(old, new Date());
    if (isUsable) {
      await writeKeptFiles(paths, [{ path: leaf.certificate, contents: old, mode: 0o644 }]);
      await dropReplaced(paths, leaf.name);
    }
    progress.signal.throwIfAborted();
    const now = isUsable ? 'the old one was restored' : 'it stays, since the old one has expired';
    throw new Failure('fatal', `the new certificate of ${leaf.name} was not accepted; ${now}`, {
      code: 'leaf-not-accepted',
      subject: leaf.certificate,
      cause,
    });
  }
  await dropReplaced(paths, leaf.name);
}
