import { X509Certificate } from 'node:crypto';
import type { z } from 'zod';
import type { Failure } from '../../base/errors/failure.ts';
import { schemaFaults } from '../../base/errors/schema-faults.ts';
import { isRecord, parseJson } from '../../base/json.ts';
import { jsonFault } from '../../base/json-fault.ts';
import { certificatesIn } from '../../pki/certificate.ts';
import { unnamedCurve } from '../../pki/read-by-go.ts';

/** How a file is read that names where a host sends something. */
export interface DestinationFile<To> {
  schemaOf(json: object): z.ZodType<To>;
  /** What the schema does not see. */
  faultsOf(to: To): readonly string[];
  /** The failure (usage) that names the file and what was found. */
  unusable(found: string): Failure;
}

/**
 * Reads the JSON of a file with secrets: messages name fields, and quote nothing but what `faultsOf` quotes.
 *
 * @throws Failure (usage) with every fault
 */
export function parseDestination<To>(text: string, file: DestinationFile<To>): To {
  const fault = jsonFault(text);
  if (fault !== undefined) throw file.unusable(fault);
  const json = parseJson(text);
  if (!isRecord(json)) throw file.unusable('no JSON object');
  const parsed = file.schemaOf(json).safeParse(json);
  if (!parsed.success) throw file.unusable(schemaFaults(parsed.error));
  const faults = file.faultsOf(parsed.data);
  if (faults.length > 0) throw file.unusable(faults.join('; '));
  return parsed.data;
}

/** A URL that a person wrote for a host: what is secret has a field of its own. */
export function urlFaults(field: string, url: string): string[] {
  const { username, password, hash } = new URL(url);
  if (username === '' && password === '' && hash === '') return [];
  return [`${field}: expected no user, no password and no fragment in the URL`];
}

/** Of one certificate, or of several that follow each other. */
export function certificateFaults(field: string, pem: string): string[] {
  try {
    const all = [
      new X509Certificate(pem),
      ...certificatesIn(pem).map((each) => new X509Certificate(each)),
    ];
    const curve = all.map(unnamedCurve).find((each) => each !== undefined);
    return curve === undefined
      ? []
      : [`${field}: expected a key of RSA, Ed25519 or a curve of NIST, found ${curve}`];
  } catch {
    return [`${field}: expected a certificate in PEM`];
  }
}
