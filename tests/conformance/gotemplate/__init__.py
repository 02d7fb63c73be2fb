"""What Go's text/template and sprig answer, case by case, and the means to ask them again."""
