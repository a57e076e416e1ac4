import { isVatId } from "./vat";

export function formatVatId(text: string): string {
  if (!isVatId(text)) throw new Error(`not a VAT id: ${text}`);
  const id = text.replace(/[\s.-]/g, "").toUpperCase();
  return `${id.slice(0, 2)} ${id.slice(2)}`;
}
