import { certificatesIn } from '../../lib/pki/certificate.ts';

/** PEM, also indented in a YAML block or with escaped line ends in JSON. */
const PEM =
  /(^[ \t]*)?-----BEGIN CERTIFICATE-----((?:(?!-----)[\s\S])+)-----END CERTIFICATE-----/gm;
/** Base64 of a text that begins with PEM, as in kubeconfigs and Secrets. */
const NESTED = /LS0tLS1CRUdJTi[A-Za-z0-9+/]+={0,2}/g;

/** The identity of a certificate: the base64 of its DER without line ends. */
export function bodyOf(pem: string): string {
  return withoutLineEnds(pem.replaceAll(/-----(BEGIN|END) CERTIFICATE-----/g, ''));
}

const withoutLineEnds = (text: string) => text.replaceAll(/\\n|\s/g, '');

/**
 * The text with certificates replaced, by `bodyOf` the old one, wherever they are: in PEM, with
 * the indentation of its first line, and in base64 of PEM.
 */
export function replaceCertificates(text: string, by: ReadonlyMap<string, string>): string {
  const plain = text.replaceAll(PEM, (block: string, indent: string | undefined, body: string) => {
    const next = by.get(withoutLineEnds(body));
    if (next === undefined) return block;
    const lines = next.trimEnd().split('\n');
    const lineEnd = body.includes('\\n') ? '\\n' : `\n${indent ?? ''}`;
    return `${indent ?? ''}${lines.join(lineEnd)}`;
  });
  return plain.replaceAll(NESTED, (encoded) => {
    const inner = Buffer.from(encoded, 'base64').toString('latin1');
    const replaced = replaceCertificates(inner, by);
    return replaced === inner ? encoded : Buffer.from(replaced, 'latin1').toString('base64');
  });
}

/** Whether a text has any of the certificates, in any of the forms that are replaced. */
export function hasCertificate(text: string, bodies: readonly string[]): boolean {
  const compact = withoutLineEnds(text);
  if (bodies.some((body) => compact.includes(body))) return true;
  return (text.match(NESTED) ?? []).some((encoded) =>
    hasCertificate(Buffer.from(encoded, 'base64').toString('latin1'), bodies),
  );
}

/** Each certificate in the texts once, as PEM, also those in base64 of PEM. */
export function distinctCertificates(texts: Iterable<string>): string[] {
  const bodies = new Set([...texts].flatMap(bodiesIn));
  return [...bodies].map((body) =>
    [
      '-----BEGIN CERTIFICATE-----',
      ...(body.match(/.{1,64}/g) ?? []),
      '-----END CERTIFICATE-----',
      '',
    ].join('\n'),
  );
}

function bodiesIn(text: string): string[] {
  const nested = text.match(NESTED) ?? [];
  return [
    ...certificatesIn(text).map(bodyOf),
    ...nested.flatMap((encoded) => bodiesIn(Buffer.from(encoded, 'base64').toString('latin1'))),
  ];
}
