export const DOCUMENT_TYPES = ['passport', 'national_id'] as const
export type DocumentType = (typeof DOCUMENT_TYPES)[number]

/** Who travels, exactly as on the travel document. Dates are `YYYY-MM-DD`. */
export type Passenger = {
  firstName: string
  lastName: string
  dateOfBirth: string
  documentType: DocumentType
  documentNumber: string
  documentExpiry: string
}
