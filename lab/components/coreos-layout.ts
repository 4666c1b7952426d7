/** Of the room for an Ignition config, in bytes. */
export const EMBED_AREA_BYTES = 256 * 1024;
/** Of the room for kernel arguments in each boot loader's configuration. */
const KARGS_BYTES = 1139;

/** A boot loader's configuration, with what stands before and after the kernel arguments. */
export interface BootConfiguration {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/**
 * The files by which coreos-installer 0.27 knows a live ISO and edits it in place
 * (src/live/embed.rs), as osbuild's stage org.osbuild.coreos.live-artifacts.mono writes them:
 * by path, for the boot loaders with room after the arguments.
 */
export function coreosLayout(
  kernelArguments: string,
  bootLoaders: readonly BootConfiguration[],
): ReadonlyMap<string, string> {
  const padding = '#'.repeat(KARGS_BYTES - kernelArguments.length - 1);
  const kargs = {
    default: kernelArguments,
    files: bootLoaders.map(({ path, before }) => {
      return { path, offset: Buffer.byteLength(before), end: '\n', pad: '#' };
    }),
    size: KARGS_BYTES,
  };
  const features = { 'installer-config': true, 'live-initrd-network': true };
  return new Map([
    ['coreos/kargs.json', `${JSON.stringify(kargs, null, 2)}\n`],
    ['coreos/igninfo.json', `${JSON.stringify({ file: 'images/ignition.img' })}\n`],
    ['coreos/features.json', `${JSON.stringify(features)}\n`],
    ...bootLoaders.map(({ path, before, after }): [string, string] => {
      return [path, `${before}${kernelArguments}\n${padding}\n${after}`];
    }),
  ]);
}
