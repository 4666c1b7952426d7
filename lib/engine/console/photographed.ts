import encodeQR from 'qr';

/** What support asks first, and what nobody should have to read to them. */
export interface Photographed {
  /** The name of the host. */
  readonly node: string;
  /** Of sno-agents. */
  readonly version: string;
  /** Of the last site volume that the host had. */
  readonly serial?: number;
}

/** Longer texts make a code that no screen has room for. */
const MAX_CHARACTERS = 120;

/**
 * The code of a failure with node, volume and version as a QR code of half blocks, for a photograph of the screen: 15 to 19
 * lines, light on the dark of a console. Capitals take less room in it (ISO/IEC 18004, alphanumeric mode).
 */
export function failureCode(code: string, { node, version, serial }: Photographed): string {
  const volume = serial === undefined ? '' : ` VOLUME ${serial}`;
  const text = `FAIL ${code} ${node}${volume} SNO ${version}`.toUpperCase();
  const printable = text.replaceAll(/[^0-9A-Z $%*+\-./:]/g, '-').slice(0, MAX_CHARACTERS);
  return encodeQR(printable, 'ascii', { ecc: 'low', border: 2 });
}
