"""What the methods do: one module a resource, one function a method. No SQL, no on-disk names, no JSON here."""
